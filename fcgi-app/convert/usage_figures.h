/* usage_figures - what an upstream says it used, in whatever dialect and however often it says so.
 *
 *     tg_figures_init(&figures, TG_FIGURES_MESSAGES);
 *     tg_figures_read(&figures, data);      // each event of a stream, or the whole answer
 *     if (tg_figures_usage(&figures, &usage)) …
 *
 * Figures in streams are cumulative: the latest value of each one counts, and a zero or an absent
 * field never erases a known one. The normalised usage keeps whose semantics it has:
 *
 *   dialect    input                            cached in it   output
 *   CHAT       prompt_tokens                    yes            completion_tokens
 *   RESPONSES  input_tokens                     yes            output_tokens
 *   MESSAGES   input_tokens                     no             output_tokens
 *   GEMINI     prompt + toolUsePrompt           yes            candidates + thoughts
 *   CONVERSE   inputTokens (Bedrock)            no             outputTokens
 *   COHERE     billed_units.input_tokens        none           billed_units.output_tokens
 *
 * Of cache writes that Messages does not break down by their life, what is left counts as 5 min.
 * Server tools that cost by the call are counted where the dialect tells of them.
 *
 * Pure.  Threads  one owner.  Blocks  no.  Source  PROTOCOLS C3; LEDGER "Deposit and bill".
 */
#ifndef TOLLGATE_CONVERT_USAGE_FIGURES_H
#define TOLLGATE_CONVERT_USAGE_FIGURES_H

#include "common/price/usage.h"

enum tg_figures_dialect {
    TG_FIGURES_CHAT, /* embeddings and completions too */
    TG_FIGURES_RESPONSES,
    TG_FIGURES_MESSAGES,
    TG_FIGURES_GEMINI,
    TG_FIGURES_CONVERSE,
    TG_FIGURES_COHERE
};

enum tg_figure {
    TG_FIGURE_INPUT,
    TG_FIGURE_TOOL_INPUT, /* beside input */
    TG_FIGURE_CACHED,
    TG_FIGURE_CACHED_AUDIO, /* part of cached */
    TG_FIGURE_CACHED_IMAGE,
    TG_FIGURE_WRITTEN, /* to a cache, of any life */
    TG_FIGURE_WRITTEN_5M,
    TG_FIGURE_WRITTEN_1H,
    TG_FIGURE_AUDIO_IN,
    TG_FIGURE_IMAGE_IN,
    TG_FIGURE_OUTPUT,
    TG_FIGURE_REASONING,
    TG_FIGURE_AUDIO_OUT,
    TG_FIGURE_WEB_SEARCHES,
    TG_FIGURE_FILE_SEARCHES,
    TG_FIGURE_INTERPRETERS,
    TG_FIGURE_IMAGES_MADE,
    TG_FIGURE__COUNT
};

struct tg_figures {
    enum tg_figures_dialect dialect;
    bool input_includes_cache; /* MESSAGES: a vendor whose input_tokens do, against the dialect */
    int64_t figures[TG_FIGURE__COUNT];
};

void tg_figures_init(struct tg_figures *figures, enum tg_figures_dialect dialect) non_null(1);

/* <data>: of one event, or a whole answer with status 2xx. What is no JSON says nothing. */
void tg_figures_read(struct tg_figures *figures, struct tg_span data) non_null(1);

/* The object alone that a Chat answer calls "usage". */
void tg_figures_read_chat(struct tg_figures *figures, struct tg_span usage) non_null(1);

/* Clamped. False, and *ret untouched, when nothing above zero has been said. */
bool tg_figures_usage(const struct tg_figures *figures, struct tg_usage *ret) must_check
    non_null(1, 2);

#endif
