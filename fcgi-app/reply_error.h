/* reply_error - what an error looks like to a client: status, words and body of each protocol.
 *
 * The rows are POLICIES "Errors to clients" for errors of our own and PROTOCOLS A7 "Hub -> client"
 * for an upstream's. Texts of errors that only people of this installation may read (a store's, a
 * bug's) are replaced.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_REPLY_ERROR_H
#define TOLLGATE_REPLY_ERROR_H

#include "fcgi-app/endpoint.h"

struct tg_error_view {
    int status;
    const char *type; /* chat, responses: error.type; messages: error.type; gemini: error.status */
    const char *code; /* chat, responses; NULL writes null */
    const char *message;
    const char *param;        /* "" for none */
    int64_t retry_after_s;    /* 0: no header */
    bool never_retry;         /* x-should-retry: false */
};

struct tg_error_scene {
    enum tg_protocol protocol;
    const char *request_id;
    int attempts; /* upstream calls made: all was tried already */
    bool array;   /* the answer is a JSON array of Gemini's: errors are elements of it */
};

/* Borrows from <err>. */
void tg_error_view(const struct tg_error *err, const struct tg_error_scene *scene,
                   struct tg_error_view *ret) non_null(1, 2, 3);
/* The body of an error answer. */
void tg_error_body(const struct tg_error_view *view, const struct tg_error_scene *scene,
                   struct tg_buf *out) non_null(1, 2, 3);
/* The error event of a stream that has begun (PROTOCOLS A8); nothing may follow it. */
void tg_error_event(const struct tg_error_view *view, const struct tg_error_scene *scene,
                    struct tg_buf *out) non_null(1, 2, 3);

#endif
