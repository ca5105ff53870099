/* failure - the event that ends a stream of Responses whose content had begun.
 *
 * It is the same response that the stream began with, now failed: clients know it by its id. What
 * was converted tells its output too.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A8; field reports on error events inside streams.
 */
#ifndef TOLLGATE_STREAM_FAILURE_H
#define TOLLGATE_STREAM_FAILURE_H

#include "common/base/buf.h"
#include "common/base/error.h"

/* <error> in the words that a client of Responses is told. */
void tg_failure_shown(const struct tg_error *error, const char *request_id, int attempts,
                      struct tg_error *ret) non_null(1, 2, 4);

/* What must be kept of a stream for that. */
struct tg_opening {
    struct tg_buf response; /* of the first event that holds one */
    int64_t next_sequence;
};
/* <data> of every event that goes to the client; <model> NULL: as it says. */
void tg_opening_keep(struct tg_opening *opening, struct tg_span data, const char *model)
    non_null(1);
/* The frame, behind what <out> holds; nothing when no response had begun. */
void tg_opening_fail(const struct tg_opening *opening, const struct tg_error *error,
                     struct tg_buf *out) non_null(1, 2, 3);

#endif
