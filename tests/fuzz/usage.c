/* Whatever an upstream reports, the usage made of it is in bounds, and reading it again changes
 * nothing. */
#include "tests/fuzz/fuzz.h"

#include "fcgi-app/convert/usage_figures.h"

static void check_bounds(const struct tg_usage *usage)
{
    const int64_t counts[] = {usage->input,          usage->cache_read,     usage->cache_write_5m,
                              usage->cache_write_1h, usage->image_in,       usage->audio_in,
                              usage->output,         usage->reasoning,      usage->audio_out,
                              usage->tool_calls,     tg_usage_base_tokens(usage)};

    for (size_t i = 0; i < TG_COUNT_OF(counts); i++)
        tg_assert(counts[i] >= 0 && counts[i] <= TG_USAGE_TOKENS_MAX);
    tg_assert(usage->reasoning <= usage->output && usage->audio_out <= usage->output);
    tg_assert(tg_usage_other_tools(usage) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const struct tg_span text = {(const char *)bytes, len};

    for (int dialect = TG_FIGURES_CHAT; dialect <= TG_FIGURES_COHERE; dialect++) {
        struct tg_usage usage = {0}, again = {0};
        struct tg_figures figures;
        bool said;

        tg_figures_init(&figures, (enum tg_figures_dialect)dialect);
        tg_figures_read(&figures, text);
        said = tg_figures_usage(&figures, &usage);
        check_bounds(&usage);
        tg_figures_read(&figures, text);
        tg_assert(tg_figures_usage(&figures, &again) == said);
        tg_assert(tg_usage_input_total(&usage) == tg_usage_input_total(&again));
        tg_assert(usage.output == again.output && usage.tool_calls == again.tool_calls);
    }
    return 0;
}
