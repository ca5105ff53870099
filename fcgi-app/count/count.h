/* count - tokens of a text that comes bit by bit, exact where its model's encoding is known.
 *
 *     tg_count_init(&count, encoders, model);
 *     tg_count_add(&count, delta, len);              // as often as you like, cut anywhere
 *     soon = tg_count_so_far(&count);                // cheap: its last few words are estimated
 *     output = tg_count_total(&count);               // as if the text ended here
 *     tg_count_done(&count);
 *
 * For other models it is the estimate (estimate.h). With an encoding, text waits until there is
 * enough of it and a place where every split pattern ends a piece; the sum is that of the whole
 * text. Only a text that has no such place in 64 KiB is cut where it must not be, and may count
 * a token more. What is no UTF-8, and a text of more than 4 MiB at once, is estimated.
 *
 * Pure.  Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_COUNT_COUNT_H
#define TOLLGATE_COUNT_COUNT_H

#include "common/base/buf.h"
#include "fcgi-app/count/encoders.h"
#include "fcgi-app/count/estimate.h"

/* Members are count.c's own. */
struct tg_count {
    const struct tg_bpe *bpe;  /* NULL: estimated */
    struct tg_estimate rough;  /* of everything, or of what waits */
    enum tg_estimate_table table;
    struct tg_buf waiting;
    size_t enough;             /* that many bytes wait before a place to cut is looked for */
    int64_t counted;           /* of what no longer waits */
};

/* Borrows <encoders> (NULL allowed). */
void tg_count_init(struct tg_count *count, const struct tg_encoders *encoders,
                     const char *model) non_null(1, 3);
void tg_count_done(struct tg_count *count) non_null(1);

void tg_count_add(struct tg_count *count, const char *text, size_t len) non_null(1);
int64_t tg_count_so_far(const struct tg_count *count) must_check non_null(1);
int64_t tg_count_total(const struct tg_count *count) must_check non_null(1);

/* All in one. */
int64_t tg_count_text(const struct tg_encoders *encoders, const char *model, const char *text,
                      size_t len) must_check non_null(2);

#endif
