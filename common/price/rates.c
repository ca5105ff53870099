#include "common/price/rates.h"

/* A price that is not set is <hundredths>/100 of another one. */
static const struct {
    const char *name;
    size_t at;
    enum tg_rate follows; /* itself: nothing stands in for it */
    int hundredths;
} rates_of[TG_RATE__COUNT] = {
    [TG_RATE_INPUT] = {"input", offsetof(struct tg_rates, input), TG_RATE_INPUT, 0},
    [TG_RATE_CACHE_READ] = {"cache_read", offsetof(struct tg_rates, cache_read), TG_RATE_INPUT,
                            100},
    [TG_RATE_CACHE_WRITE_5M] = {"cache_write_5m", offsetof(struct tg_rates, cache_write_5m),
                                TG_RATE_INPUT, 125},
    [TG_RATE_CACHE_WRITE_1H] = {"cache_write_1h", offsetof(struct tg_rates, cache_write_1h),
                                TG_RATE_INPUT, 200},
    [TG_RATE_IMAGE] = {"image", offsetof(struct tg_rates, image), TG_RATE_INPUT, 100},
    [TG_RATE_AUDIO_IN] = {"audio_in", offsetof(struct tg_rates, audio_in), TG_RATE_INPUT, 100},
    [TG_RATE_OUTPUT] = {"output", offsetof(struct tg_rates, output), TG_RATE_OUTPUT, 0},
    [TG_RATE_AUDIO_OUT] = {"audio_out", offsetof(struct tg_rates, audio_out), TG_RATE_OUTPUT, 100},
};

const char *tg_rate_name(enum tg_rate rate)
{
    return rates_of[rate].name;
}

const char *tg_rate_text(const struct tg_rates *rates, enum tg_rate rate)
{
    return (const char *)rates + rates_of[rate].at;
}

char *tg_rate_slot(struct tg_rates *rates, enum tg_rate rate)
{
    return (char *)rates + rates_of[rate].at;
}

bool tg_rate_value(const struct tg_rates *rates, enum tg_rate rate, struct tg_rational *ret)
{
    const char *text = tg_rate_text(rates, rate);

    if (*text != '\0')
        return tg_rational_set_decimal(ret, text);
    tg_rational_set_int(ret, 0);
    text = tg_rate_text(rates, rates_of[rate].follows);
    if (*text == '\0')
        return true;
    if (!tg_rational_set_decimal(ret, text))
        return false;
    tg_rational_mul_int(ret, rates_of[rate].hundredths);
    tg_rational_div_int(ret, 100);
    return true;
}

int64_t tg_rate_tokens(const struct tg_usage *usage, enum tg_rate rate)
{
    switch (rate) {
    case TG_RATE_INPUT:
        return tg_usage_base_tokens(usage);
    case TG_RATE_CACHE_READ:
        return usage->cache_read;
    case TG_RATE_CACHE_WRITE_5M:
        return usage->cache_write_5m;
    case TG_RATE_CACHE_WRITE_1H:
        return usage->cache_write_1h;
    case TG_RATE_IMAGE:
        return usage->image_in;
    case TG_RATE_AUDIO_IN:
        return usage->audio_in;
    case TG_RATE_OUTPUT:
        return usage->output - usage->audio_out;
    case TG_RATE_AUDIO_OUT:
        return usage->audio_out;
    case TG_RATE__COUNT:
        break;
    }
    return 0;
}
