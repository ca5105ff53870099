/* Bills of random usages and prices against a second computation in 128-bit integers. */
#include "tests/unit/unit.h"

#include "common/price/price.h"

#include <stdio.h>

enum { ROUNDS = 20000 };

static uint64_t seed = 20261130;

/* splitmix64: the same numbers in every run. */
static uint64_t random_below(uint64_t limit)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % limit;
}

/* A decimal with three places as text and in thousandths; -1: not set. */
static int64_t random_price(char text[TG_DECIMAL_TEXT], bool optional)
{
    int64_t thousandths = (int64_t)random_below(random_below(2) ? 100 : 100000);

    text[0] = '\0';
    if (optional && random_below(2))
        return -1;
    snprintf(text, TG_DECIMAL_TEXT, "%lld.%03lld", (long long)(thousandths / 1000),
             (long long)(thousandths % 1000));
    return thousandths;
}

struct naive {
    int64_t in, out, cr, cw5, cw1h, img, ain, aout, tool, ratio;
};

static __int128 part(int64_t tokens, int64_t price, int64_t fallback, int hundredths)
{
    __int128 used = price >= 0 ? (__int128)price * 100 : (__int128)fallback * hundredths;

    return used * tokens;
}

/* In units of 1/(2 * 1000 * 100 * 1000) quota: a price of p thousandths makes p/2000 quota a
 * token, the fallbacks are hundredths, the ratio thousandths. */
static int64_t naive_bill(const struct naive *p, const struct tg_usage *u)
{
    const __int128 unit = (__int128)2 * 1000 * 100 * 1000;
    int64_t base = u->input - u->image_in - u->audio_in;
    __int128 sum;

    if (u->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        base -= u->cache_read + u->cache_write_5m + u->cache_write_1h;
    sum = part(base, p->in, 0, 0) + part(u->cache_read, p->cr, p->in, 100) +
          part(u->cache_write_5m, p->cw5, p->in, 125) +
          part(u->cache_write_1h, p->cw1h, p->in, 200) + part(u->image_in, p->img, p->in, 100) +
          part(u->audio_in, p->ain, p->in, 100) + part(u->output - u->audio_out, p->out, 0, 0) +
          part(u->audio_out, p->aout, p->out, 100);
    if (p->tool >= 0) /* USD a call: a million times the price of a token */
        sum += part(u->tool_calls, p->tool, 0, 0) * 1000000;
    sum *= p->ratio;
    if (sum > 0 && sum < unit)
        return 1;
    return (int64_t)((sum + unit / 2) / unit);
}

static void random_usage(struct tg_usage *u)
{
    uint64_t size = random_below(3) ? 50 : 2000000;

    *u = (struct tg_usage){.semantics = (enum tg_usage_semantics)random_below(2)};
    u->cache_read = (int64_t)(random_below(2) * random_below(size));
    u->cache_write_5m = (int64_t)(random_below(2) * random_below(size));
    u->cache_write_1h = (int64_t)(random_below(2) * random_below(size));
    u->image_in = (int64_t)(random_below(2) * random_below(size));
    u->audio_in = (int64_t)(random_below(2) * random_below(size));
    u->input = u->image_in + u->audio_in + (int64_t)random_below(size);
    if (u->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        u->input += u->cache_read + u->cache_write_5m + u->cache_write_1h;
    u->audio_out = (int64_t)(random_below(2) * random_below(size));
    u->output = u->audio_out + (int64_t)random_below(size);
    u->tool_calls = (int64_t)(random_below(2) * random_below(10));
}

static void random_bills_agree(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct tg_price price = {.form = TG_PRICE_TOKEN};
        struct tg_rates *rates = &price.rates;
        char ratio[TG_DECIMAL_TEXT];
        struct tg_usage usage;
        struct naive naive;
        int64_t quota;

        naive = (struct naive){
            random_price(rates->input, false),         random_price(rates->output, false),
            random_price(rates->cache_read, true),     random_price(rates->cache_write_5m, true),
            random_price(rates->cache_write_1h, true), random_price(rates->image, true),
            random_price(rates->audio_in, true),       random_price(rates->audio_out, true),
            random_price(price.tool_call, true),       random_price(ratio, false),
        };
        random_usage(&usage);
        assert_int_equal(tg_bill(&price, &usage, ratio, NULL, &quota), TG_OK);
        assert_int_equal(quota, naive_bill(&naive, &usage));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_bills_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
