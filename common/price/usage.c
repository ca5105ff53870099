#include "common/price/usage.h"

/* Cuts <count> to 0 .. <most>; tells whether it had to. */
static bool cut(int64_t *count, int64_t most)
{
    int64_t kept = *count < 0 ? 0 : TG_MIN(*count, most);
    bool was_cut = kept != *count;

    *count = kept;
    return was_cut;
}

void tg_usage_clamp(struct tg_usage *usage)
{
    bool was_cut = cut(&usage->input, TG_USAGE_TOKENS_MAX);
    int64_t room = usage->input, cache_room = TG_USAGE_TOKENS_MAX;
    int64_t *const cache[] = {&usage->cache_read, &usage->cache_write_5m, &usage->cache_write_1h};

    if (usage->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        cache_room = room;
    for (size_t i = 0; i < TG_COUNT_OF(cache); i++) {
        was_cut |= cut(cache[i], cache_room);
        if (usage->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
            room = cache_room -= *cache[i];
    }
    was_cut |= cut(&usage->image_in, room);
    was_cut |= cut(&usage->audio_in, room - usage->image_in);
    was_cut |= cut(&usage->output, TG_USAGE_TOKENS_MAX);
    was_cut |= cut(&usage->reasoning, usage->output);
    was_cut |= cut(&usage->audio_out, usage->output);
    was_cut |= cut(&usage->tool_calls, TG_USAGE_TOKENS_MAX);
    usage->clamped |= was_cut;
}

int64_t tg_usage_base_tokens(const struct tg_usage *usage)
{
    int64_t base = usage->input - usage->image_in - usage->audio_in;

    if (usage->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        base -= usage->cache_read + usage->cache_write_5m + usage->cache_write_1h;
    return TG_MAX(base, 0);
}

int64_t tg_usage_input_total(const struct tg_usage *usage)
{
    if (usage->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        return usage->input;
    return usage->input + usage->cache_read + usage->cache_write_5m + usage->cache_write_1h;
}

bool tg_usage_is_empty(const struct tg_usage *usage)
{
    return tg_usage_input_total(usage) == 0 && usage->output == 0 && usage->tool_calls == 0;
}
