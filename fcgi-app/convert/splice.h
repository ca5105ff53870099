/* splice - change one value of a JSON text and leave every other byte alone.
 *
 * A relay between equal protocols must not re-serialise: unknown fields, number texts, spacing
 * and key order of the client reach the upstream as they are.
 *
 * Pure.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONVERT_SPLICE_H
#define TOLLGATE_CONVERT_SPLICE_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"

struct tg_splice {
    const char *model; /* name to write; NULL: leave it */
    bool ask_usage;    /* force stream_options.include_usage to true */
};

/* The result, to be sent one after the other. */
struct tg_pieces {
    const struct tg_span *spans;
    size_t count;
    size_t len; /* of all */
};

/* <body> has passed tg_json_check. Pieces borrow from <body> and <arena>. Other keys of the
 * client's stream_options are kept. Errors: TG_CLASS_INVALID "invalid_request" when the body is
 * no object or stream_options is neither object nor null. */
enum tg_class tg_splice_chat(struct tg_span body, const struct tg_splice *what,
                             struct tg_arena *arena, struct tg_pieces *ret, struct tg_error *err)
    must_check non_null(2, 3, 4);

/* A Chat event or answer with <model> where it says its model, behind what <out> holds already;
 * a text that names none is copied as it is. */
void tg_chat_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
    non_null(2, 3);

#endif
