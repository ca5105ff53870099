/* estimate - how many tokens is this text, without the model's own tokeniser?
 *
 * A state machine over code points adds a weight per word, per run of digits, per ideograph, per
 * symbol and so on; three tables of weights, chosen by model name. Weights are whole hundredths
 * of a token; the sum is rounded up once. Text may come in pieces cut anywhere, also inside a
 * UTF-8 sequence: the sum is that of the whole text.
 *
 *     struct tg_estimate estimate;
 *     tg_estimate_init(&estimate, tg_estimate_table_of(model));
 *     tg_estimate_add(&estimate, delta, len);        // as often as you like
 *     output = tg_estimate_total(&estimate);
 *
 * What has an encoding of its own is counted (count.h, prompt.h); the estimate is for the rest.
 *
 * Pure.  Threads  one owner per state.  Blocks  no.
 */
#ifndef TOLLGATE_COUNT_ESTIMATE_H
#define TOLLGATE_COUNT_ESTIMATE_H

#include "common/base/base.h"

enum tg_estimate_table { TG_ESTIMATE_OPENAI, TG_ESTIMATE_CLAUDE, TG_ESTIMATE_GEMINI };

/* Members are estimate.c's own. */
struct tg_estimate {
    enum tg_estimate_table table;
    int run;             /* enum tg_letter of the run we are in */
    uint32_t code;       /* of an unfinished UTF-8 sequence */
    int need;            /* continuation bytes still to come */
    uint32_t least;      /* smallest code this sequence may stand for */
    int64_t hundredths;
};

/* The OpenAI table stands in for every model that is neither Claude nor Gemini. */
enum tg_estimate_table tg_estimate_table_of(const char *model) non_null(1);

void tg_estimate_init(struct tg_estimate *estimate, enum tg_estimate_table table) non_null(1);
void tg_estimate_add(struct tg_estimate *estimate, const char *text, size_t len) non_null(1);
int64_t tg_estimate_total(const struct tg_estimate *estimate) non_null(1);

/* The three in one. */
int64_t tg_estimate_text(enum tg_estimate_table table, const char *text, size_t len);

#endif
