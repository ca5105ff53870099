/* sample - facts for a conversion that is not about them: the same ids and times on every run. */
#ifndef TOLLGATE_TESTS_CONVERT_SAMPLE_H
#define TOLLGATE_TESTS_CONVERT_SAMPLE_H

#include "fcgi-app/convert/convert.h"
#include "fcgi-app/convert/model_facts.h"

/* In <arena>; its `kept` is the caller's to free. */
static inline struct tg_convert *sample_context(struct tg_arena *arena, enum tg_protocol client,
                                                enum tg_protocol upstream)
{
    struct tg_convert *context = tg_arena_calloc(arena, 1, sizeof *context);

    *context = (struct tg_convert){
        .arena = arena,
        .kept = tg_json_new_array(),
        .client = client,
        .upstream = upstream,
        .diagnostics = tg_arena_calloc(arena, 1, sizeof *context->diagnostics),
        .model = tg_model_facts_of("claude-sonnet-4-5"),
        .upstream_model = "up",
        .client_model = "down",
        .random_core = "abcdefghijklmnopqrstuvwx",
        .now_unix_s = 1700000000,
        .default_max_tokens = 8192,
        .stream = true,
        .include_usage = true,
        .include_thoughts = true,
    };
    return context;
}

#endif
