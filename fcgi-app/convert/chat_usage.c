#include "fcgi-app/convert/chat_usage.h"

#include "fcgi-app/convert/value.h"

/* A count as reported. Fractions are cut off ("12.0"); what no int64 can hold comes out absurd
 * in its direction, so that clamping marks it. */
static bool read_count(const struct tg_value *value, int64_t *ret)
{
    const int64_t absurd = (int64_t)TG_USAGE_TOKENS_MAX + 1;
    int64_t count = 0;
    size_t at;
    bool negative;

    if (value->type != TG_JSON_NUMBER)
        return false;
    negative = value->text.ptr[0] == '-';
    for (at = negative; at < value->text.len; at++) {
        char c = value->text.ptr[at];

        if (c == 'e' || c == 'E')
            count = absurd;
        if (c < '0' || c > '9' || count == absurd)
            break;
        count = TG_MIN(count * 10 + (c - '0'), absurd);
    }
    for (; at < value->text.len; at++) /* an exponent behind a fraction */
        if (value->text.ptr[at] == 'e' || value->text.ptr[at] == 'E')
            count = absurd;
    *ret = negative ? -count : count;
    return true;
}

static int64_t count_of(const struct tg_value *value)
{
    int64_t count = 0;

    return read_count(value, &count) ? count : 0;
}

enum { PROMPT, PROMPT_DETAILS, CACHE_HIT, CACHED_ABOVE, COMPLETION, COMPLETION_DETAILS, MEMBERS };
static const char *const member_keys[MEMBERS] = {
    [PROMPT] = "prompt_tokens",
    [PROMPT_DETAILS] = "prompt_tokens_details",
    [CACHE_HIT] = "prompt_cache_hit_tokens", /* DeepSeek */
    [CACHED_ABOVE] = "cached_tokens",
    [COMPLETION] = "completion_tokens",
    [COMPLETION_DETAILS] = "completion_tokens_details",
};

enum { CACHED, CACHE_WRITE, IMAGE, AUDIO, REASONING, DETAILS };
static const char *const detail_keys[DETAILS] = {
    [CACHED] = "cached_tokens", [CACHE_WRITE] = "cache_write_tokens", [IMAGE] = "image_tokens",
    [AUDIO] = "audio_tokens",   [REASONING] = "reasoning_tokens",
};

/* The first place that names a number counts. */
static int64_t cached_tokens(const struct tg_value *in_details, const struct tg_value *found)
{
    int64_t count = 0;

    if (!read_count(in_details, &count) && !read_count(&found[CACHE_HIT], &count))
        return count_of(&found[CACHED_ABOVE]);
    return count;
}

bool tg_chat_usage_read(struct tg_span object, struct tg_usage *ret)
{
    struct tg_value root, found[MEMBERS], in[DETAILS], out[DETAILS];
    struct tg_usage usage = {.semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
                             .source = TG_USAGE_UPSTREAM};

    if (!tg_value_at(object, "", &root))
        return false;
    tg_value_members(&root, member_keys, found, MEMBERS);
    tg_value_members(&found[PROMPT_DETAILS], detail_keys, in, DETAILS);
    tg_value_members(&found[COMPLETION_DETAILS], detail_keys, out, DETAILS);
    usage.input = count_of(&found[PROMPT]);
    usage.cache_read = cached_tokens(&in[CACHED], found);
    usage.cache_write_5m = count_of(&in[CACHE_WRITE]);
    usage.image_in = count_of(&in[IMAGE]);
    usage.audio_in = count_of(&in[AUDIO]);
    usage.output = count_of(&found[COMPLETION]);
    usage.reasoning = count_of(&out[REASONING]);
    usage.audio_out = count_of(&out[AUDIO]);
    tg_usage_clamp(&usage);
    if (tg_usage_is_empty(&usage))
        return false;
    *ret = usage;
    return true;
}
