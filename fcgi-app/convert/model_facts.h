/* model_facts - what a model of Anthropic accepts: a table of prefixes.
 *
 * A model that is not listed gets the careful row: thinking with a budget, no prefill, no system
 * message in mid-conversation, 8,192 tokens of output.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS B0.6.
 */
#ifndef TOLLGATE_CONVERT_MODEL_FACTS_H
#define TOLLGATE_CONVERT_MODEL_FACTS_H

#include "common/base/base.h"

enum tg_model_ability {
    TG_MODEL_BUDGET = 1u << 0,        /* thinking with a budget */
    TG_MODEL_ADAPTIVE = 1u << 1,      /* thinking as the model likes */
    TG_MODEL_THINKING_OFF = 1u << 2,  /* thinking can be switched off */
    TG_MODEL_SAMPLING = 1u << 3,      /* temperature, top_p, top_k */
    TG_MODEL_FORCED_TOOL = 1u << 4,   /* tool_choice any or a tool */
    TG_MODEL_PREFILL = 1u << 5,       /* a last assistant text is gone on with */
    TG_MODEL_FORMAT = 1u << 6,        /* output_config.format */
    TG_MODEL_MID_SYSTEM = 1u << 7     /* system messages inside the conversation */
};

struct tg_model_facts {
    const char *prefix;
    int64_t max_output_tokens;
    unsigned abilities; /* enum tg_model_ability */
};

/* The row with the longest prefix. */
const struct tg_model_facts *tg_model_facts_of(const char *model) must_check non_null(1);
bool tg_model_can(const struct tg_model_facts *facts, enum tg_model_ability ability) must_check
    non_null(1);

#endif
