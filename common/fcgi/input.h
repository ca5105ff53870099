/* input - the connection to a web server, read side: bytes from the socket, events of records.h.
 *
 * Threads  one owner.  Blocks  in await only, up to its deadline or until <stop_fd> is readable.
 */
#ifndef TOLLGATE_FCGI_INPUT_H
#define TOLLGATE_FCGI_INPUT_H

#include "common/fcgi/records.h"

struct tg_fcgi_input {
    int fd;      /* the connection, -1: none; owned */
    int stop_fd; /* -1: none */
    bool broken; /* what came is no FastCGI */
    struct tg_fcgi_records records;
    /* private: read, and not looked at yet */
    unsigned char *bytes;
    size_t at, len;
};

void tg_fcgi_input_init(struct tg_fcgi_input *input, int stop_fd) non_null(1);
/* Closes the connection, if there is one; another may follow. */
void tg_fcgi_input_close(struct tg_fcgi_input *input) non_null(1);

enum tg_fcgi_awaited {
    TG_FCGI_CAME,    /* there is an event */
    TG_FCGI_CLOSED,  /* the peer sends no more */
    TG_FCGI_LOST,    /* the connection is broken, or what came is no FastCGI */
    TG_FCGI_LATE,    /* the deadline (monotonic; 0: do not wait) has come first */
    TG_FCGI_STOPPED
};
/* The piece of a body lies in the input until the next call. */
enum tg_fcgi_awaited tg_fcgi_input_await(struct tg_fcgi_input *input, int64_t deadline_at_us,
                                         enum tg_fcgi_event *ret, struct tg_span *piece) must_check
    non_null(1, 3, 4);
/* Sends what `records` owes. */
void tg_fcgi_input_reply(struct tg_fcgi_input *input) non_null(1);
/* Has something been read that nobody looked at? */
bool tg_fcgi_input_has(const struct tg_fcgi_input *input) non_null(1);
/* Nothing is expected for a while: gives its memory back. */
void tg_fcgi_input_rest(struct tg_fcgi_input *input) non_null(1);

#endif
