#include "fcgi-app/provider/balance.h"

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/json/scan.h"
#include "common/price/rational.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NUMBER_TEXT = 48, HOST_TEXT = 128, DAY_S = 86400, FAR_DAYS = 100 };

/* What an answer says: plus - minus / minus_by. */
struct sum {
    char plus[NUMBER_TEXT], minus[NUMBER_TEXT];
    int64_t minus_by;
    bool is_cny;
};

typedef bool read_fn(const struct tg_span answers[2], struct sum *ret);
struct tg_balance_source {
    const char *word, *host; /* host: "" is found by its word only */
    const char *path;
    bool from_origin; /* the path follows the host, not the base URL */
    read_fn *read;
};

/* --- numbers ------------------------------------------------------------------------------- */

/* A number, or a text that holds one. */
static bool number_at(struct tg_span text, const char *path, char ret[NUMBER_TEXT])
{
    struct tg_json_place place;

    if (!tg_json_find(text.ptr, text.len, path, &place))
        return false;
    if (place.type == TG_JSON_STRING)
        return tg_json_place_string(text.ptr, &place, ret, NUMBER_TEXT);
    if (place.type != TG_JSON_NUMBER || place.len >= NUMBER_TEXT)
        return false;
    memcpy(ret, text.ptr + place.at, place.len);
    ret[place.len] = '\0';
    return true;
}

static bool set(struct tg_rational *to, const char *text)
{
    bool negative = *text == '-';

    if (!tg_rational_set_decimal(to, text + negative))
        return false;
    if (negative)
        tg_rational_mul_int(to, -1);
    return true;
}

static bool to_quota(const struct sum *sum, const char *cny_per_usd, int64_t *ret)
{
    struct tg_rational *value = tg_rational_new(), *other = tg_rational_new();
    bool good = set(value, sum->plus);

    if (good && sum->minus[0] != '\0') {
        good = set(other, sum->minus);
        tg_rational_div_int(other, sum->minus_by);
        tg_rational_sub(value, other);
    }
    if (good && sum->is_cny) {
        good = set(other, cny_per_usd) && !tg_rational_is_zero(other);
        if (good)
            tg_rational_div(value, other);
    }
    tg_rational_mul_int(value, TG_QUOTA_PER_USD);
    if (good)
        *ret = tg_rational_round(value, NULL);
    tg_rational_free(value);
    tg_rational_free(other);
    return good;
}

/* --- what they answer ---------------------------------------------------------------------- */

static bool read_openrouter(const struct tg_span answers[2], struct sum *ret)
{
    return number_at(answers[0], "data.total_credits", ret->plus) &&
           number_at(answers[0], "data.total_usage", ret->minus);
}

static bool read_deepseek(const struct tg_span answers[2], struct sum *ret)
{
    static const char *const wanted[] = {"USD", "CNY"};
    struct tg_json_place place;
    char path[48], currency[8];

    for (size_t w = 0; w < TG_COUNT_OF(wanted); w++)
        for (int i = 0; i < 8; i++) {
            snprintf(path, sizeof path, "balance_infos.%d.currency", i);
            if (!tg_json_find(answers[0].ptr, answers[0].len, path, &place) ||
                !tg_json_place_string(answers[0].ptr, &place, currency, sizeof currency) ||
                strcmp(currency, wanted[w]) != 0)
                continue;
            snprintf(path, sizeof path, "balance_infos.%d.total_balance", i);
            ret->is_cny = w == 1;
            return number_at(answers[0], path, ret->plus);
        }
    return false;
}

static bool read_moonshot(const struct tg_span answers[2], struct sum *ret)
{
    return number_at(answers[0], "data.available_balance", ret->plus);
}

/* It tells of failures inside a 200. */
static bool read_siliconflow(const struct tg_span answers[2], struct sum *ret)
{
    char code[NUMBER_TEXT];

    return number_at(answers[0], "code", code) && strcmp(code, "20000") == 0 &&
           number_at(answers[0], "data.totalBalance", ret->plus);
}

static bool read_billing(const struct tg_span answers[2], struct sum *ret)
{
    ret->minus_by = 100;
    return number_at(answers[0], "hard_limit_usd", ret->plus) &&
           number_at(answers[1], "total_usage", ret->minus);
}

static const struct tg_balance_source sources[] = {
    {"openrouter", "openrouter.ai", "/credits", false, read_openrouter},
    {"deepseek", "api.deepseek.com", "/user/balance", true, read_deepseek},
    {"moonshot", "api.moonshot.ai", "/users/me/balance", false, read_moonshot},
    {"moonshot", "api.moonshot.cn", "/users/me/balance", false, read_moonshot},
    {"siliconflow", "api.siliconflow.cn", "/user/info", false, read_siliconflow},
    {"siliconflow", "api.siliconflow.com", "/user/info", false, read_siliconflow},
    {"billing", "", "/dashboard/billing/subscription", false, read_billing},
};

/* --- where they are asked ------------------------------------------------------------------ */

/* Length of "https://host:port". */
static size_t origin_len(const char *base_url)
{
    const char *host = strstr(base_url, "://");

    return host == NULL ? strlen(base_url)
                        : (size_t)(host + 3 - base_url) + strcspn(host + 3, "/?#");
}

static void host_of(const char *base_url, char ret[HOST_TEXT])
{
    const char *host = strstr(base_url, "://");
    size_t len;

    host = host == NULL ? base_url : host + 3;
    len = strcspn(host, "/?#:");
    snprintf(ret, HOST_TEXT, "%.*s", (int)TG_MIN(len, (size_t)HOST_TEXT - 1), host);
}

const struct tg_balance_source *tg_balance_find(const char *word, const char *base_url)
{
    char host[HOST_TEXT];

    host_of(base_url, host);
    for (size_t i = 0; i < TG_COUNT_OF(sources); i++)
        if (*word != '\0' ? strcmp(word, sources[i].word) == 0
                          : strcmp(host, sources[i].host) == 0)
            return &sources[i];
    return NULL;
}

/* Of the month, or of a hundred days where the account is paid in advance. */
static const char *usage_query(struct tg_arena *arena, struct tg_span first)
{
    struct tg_json_place place;
    bool in_advance = tg_json_find(first.ptr, first.len, "has_payment_method", &place) &&
                      place.type == TG_JSON_FALSE;
    time_t now = (time_t)(tg_unix_us() / 1000000), from_s = now - (time_t)FAR_DAYS * DAY_S,
           to_s = now + DAY_S;
    struct tm from, to;

    gmtime_r(in_advance ? &from_s : &now, &from);
    gmtime_r(&to_s, &to);
    if (!in_advance)
        from.tm_mday = 1;
    return tg_arena_printf(arena, "?start_date=%04d-%02d-%02d&end_date=%04d-%02d-%02d",
                           from.tm_year + 1900, from.tm_mon + 1, from.tm_mday, to.tm_year + 1900,
                           to.tm_mon + 1, to.tm_mday);
}

const char *tg_balance_url(const struct tg_balance_source *source, struct tg_arena *arena,
                           const char *base_url, int step, struct tg_span first)
{
    size_t len = source->from_origin ? origin_len(base_url) : strlen(base_url);

    while (len > 0 && base_url[len - 1] == '/')
        len--;
    if (step == 0)
        return tg_arena_printf(arena, "%.*s%s", (int)len, base_url, source->path);
    if (step != 1 || source->read != read_billing)
        return NULL;
    return tg_arena_printf(arena, "%.*s/dashboard/billing/usage%s", (int)len, base_url,
                           usage_query(arena, first));
}

enum tg_class tg_balance_read(const struct tg_balance_source *source,
                              const struct tg_balance_facts *facts, int64_t *ret_quota,
                              struct tg_error *err)
{
    struct sum sum = {.minus_by = 1};
    char host[HOST_TEXT];
    size_t len;

    host_of(facts->base_url, host);
    len = strlen(host);
    sum.is_cny = len > 3 && strcmp(host + len - 3, ".cn") == 0 && source->read != read_billing;
    if (source->read(facts->answers, &sum) && to_quota(&sum, facts->cny_per_usd, ret_quota))
        return TG_OK;
    return tg_fail(err, TG_CLASS_UPSTREAM, "balance_unknown",
                   "the provider's answer does not say what is left");
}
