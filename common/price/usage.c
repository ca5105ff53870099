#include "common/price/usage.h"

/* Cuts <count> to 0 .. <most>; tells whether it had to. */
static bool cut(int64_t *count, int64_t most)
{
    int64_t kept = *count < 0 ? 0 : TG_MIN(*count, most);
    bool was_cut = kept != *count;

    *count = kept;
    return was_cut;
}

static bool cut_tools(struct tg_usage *usage)
{
    int64_t room = usage->tool_calls;
    bool was_cut = false;

    for (size_t i = 0; i < TG_COUNT_OF(usage->tools); i++) {
        was_cut |= cut(&usage->tools[i], room);
        room -= usage->tools[i];
    }
    return was_cut;
}

/* More in caches than was read at all: this upstream counts as Anthropic does, whatever its dialect
 * says, and a cut would leave most of what it did unpaid. */
static bool correct_semantics(struct tg_usage *usage)
{
    int64_t cached = usage->cache_read + usage->cache_write_5m + usage->cache_write_1h;

    if (usage->semantics != TG_USAGE_INPUT_INCLUDES_CACHE || cached <= usage->input)
        return false;
    usage->semantics = TG_USAGE_INPUT_EXCLUDES_CACHE;
    return true;
}

void tg_usage_clamp(struct tg_usage *usage)
{
    bool was_cut = cut(&usage->input, TG_USAGE_TOKENS_MAX);
    int64_t room;

    was_cut |= cut(&usage->cache_read, TG_USAGE_TOKENS_MAX);
    was_cut |= cut(&usage->cache_write_5m, TG_USAGE_TOKENS_MAX);
    was_cut |= cut(&usage->cache_write_1h, TG_USAGE_TOKENS_MAX);
    was_cut |= correct_semantics(usage);
    room = usage->input;
    if (usage->semantics == TG_USAGE_INPUT_INCLUDES_CACHE)
        room -= usage->cache_read + usage->cache_write_5m + usage->cache_write_1h;
    was_cut |= cut(&usage->image_in, room);
    was_cut |= cut(&usage->audio_in, room - usage->image_in);
    was_cut |= cut(&usage->output, TG_USAGE_TOKENS_MAX);
    was_cut |= cut(&usage->reasoning, usage->output);
    was_cut |= cut(&usage->audio_out, usage->output);
    was_cut |= cut(&usage->tool_calls, TG_USAGE_TOKENS_MAX);
    was_cut |= cut_tools(usage);
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

/* A sum that cannot leave int64: what is absurd is cut by the clamp later. */
static int64_t plus(int64_t sum, int64_t more)
{
    int64_t result;

    if (__builtin_add_overflow(sum, more, &result))
        return more < 0 ? INT64_MIN : INT64_MAX;
    return result;
}

void tg_usage_add_tool(struct tg_usage *usage, enum tg_tool tool, int64_t calls)
{
    usage->tools[tool] = plus(usage->tools[tool], calls);
    usage->tool_calls = plus(usage->tool_calls, calls);
}

int64_t tg_usage_other_tools(const struct tg_usage *usage)
{
    int64_t other = usage->tool_calls;

    for (size_t i = 0; i < TG_COUNT_OF(usage->tools); i++)
        other -= usage->tools[i];
    return TG_MAX(other, 0);
}

const char *tg_tool_name(enum tg_tool tool)
{
    static const char *const names[] = {
        [TG_TOOL_WEB_SEARCH] = "web_search",
        [TG_TOOL_FILE_SEARCH] = "file_search",
        [TG_TOOL_CODE_INTERPRETER] = "code_interpreter",
        [TG_TOOL_IMAGE_GENERATION] = "image_generation",
    };

    return names[tool];
}
