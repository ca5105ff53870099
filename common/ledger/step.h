/* step - one call of a ledger script: its keys, its arguments, the word it answers.
 *
 *     tg_step_begin(&step, &tg_script_look, shard);
 *     tg_step_key(&step, "state");  tg_step_key_of(&step, "user", 7);   // all keys first
 *     tg_step_fence(&step);                                            // then the three of all
 *     tg_step_int(&step, 7);                                           // then its own arguments
 *     class = tg_step_run(&step, kv, epoch, deadline_at_us, &outcome);
 *
 * The fence's values (epoch, the server's run id, the deadline in its time) are filled in by each
 * run, so a step may be run again. Spans given to it are borrowed until its last run.
 *
 * Threads  one owner.  Blocks  run: up to the deadline.
 */
#ifndef TOLLGATE_LEDGER_STEP_H
#define TOLLGATE_LEDGER_STEP_H

#include "common/ledger/scripts.h"

enum { TG_STEP_PARTS = 48, TG_STEP_TEXT = 1536, TG_STEP_NUMBERS = 4 };

enum tg_step_word {
    TG_WORD_OK,
    TG_WORD_LATE,
    TG_WORD_REBUILDING,
    TG_WORD_MISSING,
    TG_WORD_BOUNDS,
    TG_WORD_ENDED,
    TG_WORD_DUPLICATE,
    TG_WORD_STALE,
    TG_WORD_USER_SHORT,
    TG_WORD_TOKEN_SHORT,
    TG_WORD_CLAMPED,
    TG_WORD_PLAN,
    TG_WORD_MISMATCH,
    TG_WORD_FENCED
};

struct tg_step {
    const struct tg_kv_script *script;
    char tag[8]; /* "{s17}" */
    struct tg_span parts[TG_STEP_PARTS];
    size_t key_count, count;
    char text[TG_STEP_TEXT]; /* of keys and numbers */
    size_t text_len;
};

struct tg_outcome {
    enum tg_step_word word;
    int64_t numbers[TG_STEP_NUMBERS]; /* what stands behind the word */
};

void tg_step_begin(struct tg_step *step, const struct tg_kv_script *script, int shard)
    non_null(1, 2);
void tg_step_key(struct tg_step *step, const char *name) non_null(1, 2);
void tg_step_key_of(struct tg_step *step, const char *name, int64_t id) non_null(1, 2);
void tg_step_fence(struct tg_step *step) non_null(1);
void tg_step_int(struct tg_step *step, int64_t value) non_null(1);
void tg_step_span(struct tg_step *step, const void *ptr, size_t len) non_null(1);

/* "late" is answered only after the server's clock was read again and the step repeated. */
enum tg_class tg_step_run(struct tg_step *step, struct tg_kv *kv, int64_t epoch,
                          int64_t deadline_at_us, struct tg_outcome *ret) must_check
    non_null(1, 2, 5);
const char *tg_step_word_name(enum tg_step_word word);

#endif
