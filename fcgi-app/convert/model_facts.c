#include "fcgi-app/convert/model_facts.h"

#include <string.h>

enum {
    OLD = TG_MODEL_THINKING_OFF | TG_MODEL_SAMPLING | TG_MODEL_FORCED_TOOL | TG_MODEL_PREFILL,
    BUDGET = OLD | TG_MODEL_BUDGET,
    FORMAT = BUDGET | TG_MODEL_FORMAT,
    V46 = TG_MODEL_THINKING_OFF | TG_MODEL_SAMPLING | TG_MODEL_FORCED_TOOL | TG_MODEL_BUDGET |
          TG_MODEL_ADAPTIVE | TG_MODEL_FORMAT,
    V47 = V46 & ~TG_MODEL_SAMPLING,
    V48 = V47 | TG_MODEL_MID_SYSTEM,
    V5 = TG_MODEL_ADAPTIVE | TG_MODEL_FORMAT | TG_MODEL_MID_SYSTEM
};

static const struct tg_model_facts rows[] = {
    {"", 8192, TG_MODEL_THINKING_OFF | TG_MODEL_SAMPLING | TG_MODEL_FORCED_TOOL | TG_MODEL_BUDGET},
    {"claude-", 128000,
     TG_MODEL_THINKING_OFF | TG_MODEL_SAMPLING | TG_MODEL_FORCED_TOOL | TG_MODEL_BUDGET},
    {"claude-3-haiku", 4096, OLD},
    {"claude-3-opus", 4096, OLD},
    {"claude-3-5", 8192, OLD},
    {"claude-3-7", 64000, BUDGET},
    {"claude-sonnet-4", 64000, BUDGET},
    {"claude-opus-4", 32000, BUDGET},
    {"claude-opus-4-1", 32000, FORMAT},
    {"claude-opus-4-5", 64000, FORMAT},
    {"claude-sonnet-4-5", 64000, FORMAT},
    {"claude-haiku-4-5", 64000, FORMAT},
    {"claude-opus-4-6", 128000, V46},
    {"claude-sonnet-4-6", 128000, V46},
    {"claude-opus-4-7", 128000, V47},
    {"claude-sonnet-4-7", 128000, V47},
    {"claude-opus-4-8", 128000, V48},
    {"claude-sonnet-5", 128000, V48 & ~TG_MODEL_SAMPLING},
    {"claude-opus-5", 128000, V48 & ~TG_MODEL_SAMPLING},
    {"claude-haiku-5", 128000, V48 & ~TG_MODEL_SAMPLING},
    {"claude-sonnet-5-5", 128000, V5},
    {"claude-opus-5-5", 128000, V5},
    {"claude-haiku-5-5", 128000, V5 | TG_MODEL_FORCED_TOOL | TG_MODEL_THINKING_OFF},
    {"claude-fable-5", 128000, V5 | TG_MODEL_FORCED_TOOL},
    {"claude-fable-5-1", 128000, V5},
};

const struct tg_model_facts *tg_model_facts_of(const char *model)
{
    const struct tg_model_facts *best = &rows[0];

    for (size_t i = 1; i < TG_COUNT_OF(rows); i++) {
        size_t len = strlen(rows[i].prefix);

        if (strncmp(model, rows[i].prefix, len) == 0 && len > strlen(best->prefix))
            best = &rows[i];
    }
    return best;
}

bool tg_model_can(const struct tg_model_facts *facts, enum tg_model_ability ability)
{
    return (facts->abilities & ability) != 0;
}
