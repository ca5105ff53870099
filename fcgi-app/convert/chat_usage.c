#include "fcgi-app/convert/chat_usage.h"

#include "fcgi-app/convert/value.h"

/* A count as reported. Fractions are cut off ("12.0"); what no int64 can hold comes out absurd
 * in its direction, so that clamping marks it. */
static bool read_count(struct tg_span object, const char *path, int64_t *ret)
{
    const int64_t absurd = (int64_t)TG_USAGE_TOKENS_MAX + 1;
    struct tg_value value;
    int64_t count = 0;
    size_t at;
    bool negative;

    if (!tg_value_at(object, path, &value) || value.type != TG_JSON_NUMBER)
        return false;
    negative = value.text.ptr[0] == '-';
    for (at = negative; at < value.text.len; at++) {
        char c = value.text.ptr[at];

        if (c == 'e' || c == 'E')
            count = absurd;
        if (c < '0' || c > '9' || count == absurd)
            break;
        count = TG_MIN(count * 10 + (c - '0'), absurd);
    }
    for (; at < value.text.len; at++) /* an exponent behind a fraction */
        if (value.text.ptr[at] == 'e' || value.text.ptr[at] == 'E')
            count = absurd;
    *ret = negative ? -count : count;
    return true;
}

static int64_t count_at(struct tg_span object, const char *path)
{
    int64_t count = 0;

    return read_count(object, path, &count) ? count : 0;
}

static int64_t cached_tokens(struct tg_span usage)
{
    static const char *const places[] = {"prompt_tokens_details.cached_tokens",
                                         "prompt_cache_hit_tokens", "cached_tokens"};
    int64_t count = 0;

    for (size_t i = 0; i < TG_COUNT_OF(places); i++)
        if (read_count(usage, places[i], &count))
            break;
    return count;
}

bool tg_chat_usage_read(struct tg_span object, struct tg_usage *ret)
{
    struct tg_usage usage = {
        .semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
        .source = TG_USAGE_UPSTREAM,
        .input = count_at(object, "prompt_tokens"),
        .cache_read = cached_tokens(object),
        .cache_write_5m = count_at(object, "prompt_tokens_details.cache_write_tokens"),
        .image_in = count_at(object, "prompt_tokens_details.image_tokens"),
        .audio_in = count_at(object, "prompt_tokens_details.audio_tokens"),
        .output = count_at(object, "completion_tokens"),
        .reasoning = count_at(object, "completion_tokens_details.reasoning_tokens"),
        .audio_out = count_at(object, "completion_tokens_details.audio_tokens"),
    };

    tg_usage_clamp(&usage);
    if (tg_usage_is_empty(&usage))
        return false;
    *ret = usage;
    return true;
}
