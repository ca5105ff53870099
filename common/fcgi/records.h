/* records - what a web server sends on a FastCGI connection, record by record. Bytes in, events
 * out: no descriptor, nothing of libfcgi.
 *
 * libfcgi allocates what a parameter claims to be before a byte of it has come, answers
 * FCGI_GET_VALUES out of a buffer of 64 bytes whatever was asked, and takes an abort for garbage.
 * So the peer's bytes pass here first. Memory is bounded by what has arrived, and that by
 * TG_FCGI_PARAMS_BYTES; parameters above the limits are dropped and said so (the request is
 * answered with 431), a stream of them without end is refused.
 *
 * One request at a time: records of other ids are skipped, a second FCGI_BEGIN_REQUEST is told
 * CANT_MPX_CONN, management records are answered; what is owed is collected in `reply`.
 *
 * Source   FastCGI specification 3 to 5; limits of reference S5.
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_FCGI_RECORDS_H
#define TOLLGATE_FCGI_RECORDS_H

#include "common/base/buf.h"

enum {
    TG_FCGI_NAME_BYTES = 256,
    TG_FCGI_VALUE_BYTES = 64 * 1024,
    TG_FCGI_PARAMS_BYTES = 256 * 1024,
    TG_FCGI_PARAMS_COUNT = 256,
    TG_FCGI_SMALL_BYTES = 64 /* content of a record that is no stream */
};

enum tg_fcgi_event {
    TG_FCGI_MORE,    /* all was consumed, nothing to report */
    TG_FCGI_PARAMS,  /* the parameters are whole */
    TG_FCGI_BODY,    /* <piece> is part of the body */
    TG_FCGI_END,     /* the body is whole */
    TG_FCGI_ABORTED, /* the web server wants this request ended; nothing of it follows */
    TG_FCGI_REFUSED  /* no FastCGI, or a flood: the connection is of no use any more. Final. */
};

enum tg_fcgi_phase { TG_FCGI_IDLE, TG_FCGI_IN_PARAMS, TG_FCGI_IN_BODY, TG_FCGI_ANSWERING };

enum tg_fcgi_flaw { TG_FCGI_SOUND, TG_FCGI_TOO_LARGE, TG_FCGI_MALFORMED };

struct tg_fcgi_records {
    /* of the request that has begun */
    int id; /* 0: none has */
    bool keep;
    enum tg_fcgi_flaw flaw; /* of its parameters */
    struct tg_buf params;   /* name-value pairs within the limits, as they came; owned */
    struct tg_buf reply;    /* records for the peer; owned, the reader's caller empties it */

    /* private: records.c */
    enum tg_fcgi_phase phase;
    unsigned char header[8], small[TG_FCGI_SMALL_BYTES], lengths[8];
    size_t header_len, small_len, content_left, padding_left;
    bool in_record, begins, refused;
    /* the pair under way: its two lengths, then name and value */
    size_t lengths_len, name_len, value_len, pair_at, pair_start;
    bool in_pair, dropped;
    size_t params_seen, params_count;
    int strays; /* records that belong to no request, since the last one began */
};

void tg_fcgi_records_init(struct tg_fcgi_records *records) non_null(1);
void tg_fcgi_records_done(struct tg_fcgi_records *records) non_null(1);
/* The request has been answered: another may begin. What was fed beyond it stays understood. */
void tg_fcgi_records_next(struct tg_fcgi_records *records) non_null(1);

/* Consumes bytes up to the next event; *used tells how many. A piece of a body borrows <bytes>. */
enum tg_fcgi_event tg_fcgi_records_feed(struct tg_fcgi_records *records, const void *bytes,
                                        size_t len, size_t *used, struct tg_span *piece) must_check
    non_null(1, 4, 5);

/* The head of a record. <len> at most 65,535. */
void tg_fcgi_record_head(struct tg_buf *out, int type, int id, size_t len) non_null(1);
/* FCGI_END_REQUEST; <status>: 0 complete, 1 no multiplexing, 3 unknown role. */
void tg_fcgi_record_end(struct tg_buf *out, int id, int status) non_null(1);

enum {
    TG_FCGI_TYPE_BEGIN = 1,
    TG_FCGI_TYPE_ABORT = 2,
    TG_FCGI_TYPE_END = 3,
    TG_FCGI_TYPE_PARAMS = 4,
    TG_FCGI_TYPE_STDIN = 5,
    TG_FCGI_TYPE_STDOUT = 6,
    TG_FCGI_TYPE_GET_VALUES = 9,
    TG_FCGI_TYPE_GET_VALUES_RESULT = 10,
    TG_FCGI_TYPE_UNKNOWN = 11
};

#endif
