/* fcgi - one FastCGI request at a time on one thread (the only user of libfcgi).
 *
 * Everything a peer sends is read and checked here (records.h); libfcgi gets parameters within
 * the limits, out of memory, and writes the answer. Traps this hides (libfcgi 2.4.2): memory that
 * is allocated by claim, no time limits, aborts taken for garbage, a body that ends the connection;
 * a flush reports a broken pipe once only, so the writer here is sticky; its Finish may block for
 * two seconds and more, so it is not used and everything owed is done before ours.
 *
 * Threads  a struct tg_fcgi belongs to one thread.  Blocks  as said per call.
 */
#ifndef TOLLGATE_FCGI_FCGI_H
#define TOLLGATE_FCGI_FCGI_H

#include "common/base/error.h"
#include "common/fcgi/records.h"

struct tg_fcgi;

enum tg_class tg_fcgi_library_init(struct tg_error *err) must_check; /* once, before threads */

/* <listen_fd> is set to non-blocking. Whoever waits for a peer's bytes ends as soon as <stop_fd>
 * is readable; -1: none. */
struct tg_fcgi *tg_fcgi_new(int listen_fd, int stop_fd) must_check;
void tg_fcgi_free(struct tg_fcgi *fcgi); /* NULL is fine */

enum tg_fcgi_accepted { TG_FCGI_REQUEST, TG_FCGI_NOTHING, TG_FCGI_NO_DESCRIPTORS };
/* Takes a connection that is waiting on the listening socket; none may be held or kept. NOTHING:
 * another process was faster. Blocks: no. */
enum tg_fcgi_accepted tg_fcgi_take(struct tg_fcgi *fcgi) must_check non_null(1);
/* Reads the parameters of the connection that was taken or kept (or takes one first). NOTHING: no
 * connection, or the peer sent garbage, a flood, or nothing for ten seconds. <send_timeout_us>
 * bounds every later write. Blocks: on the peer's parameters only, without any lock of ours. */
enum tg_fcgi_accepted tg_fcgi_accept(struct tg_fcgi *fcgi, int64_t send_timeout_us) non_null(1);
/* Were there parameters that are missing now, for their size or their bytes? */
enum tg_fcgi_flaw tg_fcgi_params_flaw(const struct tg_fcgi *fcgi) non_null(1);

/* A CGI variable, NULL when absent. Borrowed until finish. */
const char *tg_fcgi_param(const struct tg_fcgi *fcgi, const char *name) non_null(1, 2);
/* "x-api-key" -> HTTP_X_API_KEY; content-type and content-length are found as well. */
const char *tg_fcgi_header(const struct tg_fcgi *fcgi, const char *name) non_null(1, 2);
typedef void tg_fcgi_visit_fn(void *context, const char *name, const char *value);
void tg_fcgi_each_param(const struct tg_fcgi *fcgi, tg_fcgi_visit_fn *visit, void *context)
    non_null(1, 2);

/* Limit for the reads that follow (monotonic). */
void tg_fcgi_set_read_deadline(struct tg_fcgi *fcgi, int64_t deadline_at_us) non_null(1);
/* The body bytes that have come, at least one; *ret_len 0 at the end. TG_CLASS_GONE when the peer
 * broke off, TG_CLASS_TIMEOUT at the deadline, TG_CLASS_OVERLOAD at the stop. Blocks. */
enum tg_class tg_fcgi_read(struct tg_fcgi *fcgi, void *bytes, size_t room, size_t *ret_len,
                           struct tg_error *err) must_check non_null(1, 2, 4);

/* Output is buffered up to 8 KiB; sticky: after the first failure all return TG_CLASS_GONE. */
enum tg_class tg_fcgi_write(struct tg_fcgi *fcgi, const void *bytes, size_t len) non_null(1);
enum tg_class tg_fcgi_flush(struct tg_fcgi *fcgi) non_null(1);

/* The descriptor to poll while waiting for an upstream, once the body was read to its end. Between
 * two requests: the connection that the web server keeps open, or -1. */
int tg_fcgi_descriptor(const struct tg_fcgi *fcgi) non_null(1);
/* Bytes of a next request have come already: do not wait for the descriptor. */
bool tg_fcgi_has_input(const struct tg_fcgi *fcgi) non_null(1);
/* Has the peer gone? Looks at the descriptor without blocking: POLLHUP or an error is gone on
 * both kinds of socket, POLLRDHUP alone is gone on TCP and a half close on a Unix socket. */
bool tg_fcgi_is_gone(struct tg_fcgi *fcgi) non_null(1);
/* The poll events worth waiting for; 0 after a harmless half close was seen (it would spin). */
short tg_fcgi_poll_events(const struct tg_fcgi *fcgi) non_null(1);

/* Ends the answer: the client has everything after this. Does not wait for the peer. */
void tg_fcgi_end(struct tg_fcgi *fcgi) non_null(1);
/* Closes the connection, or keeps it when the web server asked for that. May block 2 s for a peer
 * that does not close: owe nothing. */
void tg_fcgi_finish(struct tg_fcgi *fcgi) non_null(1);
/* Closes a kept connection. */
void tg_fcgi_let_go(struct tg_fcgi *fcgi) non_null(1);

#endif
