/* usage - what a request used, normalised, with the semantics it came from.
 *
 * OpenAI's and Gemini's prompt counts include cache reads and writes, Anthropic's exclude them;
 * mixing them up charges caches twice. All counts are kept as reported by the upstream;
 * tg_usage_base_tokens does the subtraction in one place. Source: LEDGER "Deposit and bill",
 * PROTOCOLS C3.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_PRICE_USAGE_H
#define TOLLGATE_PRICE_USAGE_H

#include "common/base/base.h"

enum tg_usage_semantics {
    TG_USAGE_INPUT_INCLUDES_CACHE, /* OpenAI, Gemini */
    TG_USAGE_INPUT_EXCLUDES_CACHE  /* Anthropic */
};

enum tg_usage_source {
    TG_USAGE_NONE,           /* nothing used, or nothing known and nothing delivered (R3) */
    TG_USAGE_UPSTREAM,       /* reported by the upstream (R1) */
    TG_USAGE_COUNTED_LOCALLY /* counted from prompt and delivered content (R2) */
};

/* Server tools that vendors charge by the call. */
enum tg_tool {
    TG_TOOL_WEB_SEARCH,
    TG_TOOL_FILE_SEARCH,
    TG_TOOL_CODE_INTERPRETER, /* by the session or container */
    TG_TOOL_IMAGE_GENERATION,
    TG_TOOL__COUNT
};

struct tg_usage {
    enum tg_usage_semantics semantics;
    enum tg_usage_source source;
    int64_t input, cache_read, cache_write_5m, cache_write_1h;
    int64_t image_in, audio_in;                 /* part of input, priced on their own */
    int64_t output, reasoning, audio_out;       /* reasoning and audio_out are part of output */
    int64_t tool_calls;            /* priced server tools only, of all kinds */
    int64_t tools[TG_TOOL__COUNT]; /* part of tool_calls: those whose kind is known */
    bool clamped;                               /* negative or absurd numbers were cut */
};

enum { TG_USAGE_TOKENS_MAX = 1000000000 }; /* a larger count is absurd and clamped */

/* Cuts negative and absurd counts, and parts larger than their whole; an input smaller than what
 * was cached of it is taken for one that excludes caches. Sets `clamped` for either. */
void tg_usage_clamp(struct tg_usage *usage) non_null(1);
/* Input tokens at the base price: input minus everything that has a price of its own. */
int64_t tg_usage_base_tokens(const struct tg_usage *usage) non_null(1);
/* Everything read, for tiers and limits. */
int64_t tg_usage_input_total(const struct tg_usage *usage) non_null(1);
bool tg_usage_is_empty(const struct tg_usage *usage) non_null(1);
/* Counts <calls> more of a tool, as its own kind and among all. */
void tg_usage_add_tool(struct tg_usage *usage, enum tg_tool tool, int64_t calls) non_null(1);
/* Calls of tools whose kind is not known. */
int64_t tg_usage_other_tools(const struct tg_usage *usage) non_null(1);
const char *tg_tool_name(enum tg_tool tool); /* "web_search" */

#endif
