/* error - the one error value of Tollgate.
 *
 * A function that can fail returns its class (TG_OK = 0) and fills a struct tg_error: a class for
 * decisions, a stable machine word (`code`) for clients and tests, a text for people. What an
 * error means for retries is said by flags where it arises; what it looks like to a client is
 * decided in one place (fcgi-app/reply.c, table of POLICIES "Errors to clients").
 *
 * Messages never hold secrets, hashes, table names or upstream addresses when class is one that
 * reaches clients.
 *
 * Threads  any; a struct tg_error belongs to its caller.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_ERROR_H
#define TOLLGATE_BASE_ERROR_H

#include "common/base/base.h"

enum tg_class {
    TG_OK = 0,
    /* answers to clients: one row of POLICIES' table each */
    TG_CLASS_AUTH,       /* no, bad, expired, revoked or used-up credential */
    TG_CLASS_FORBIDDEN,  /* user disabled, address, group or model not allowed */
    TG_CLASS_FUNDS,      /* no money for the deposit */
    TG_CLASS_INVALID,    /* malformed request or input */
    TG_CLASS_UNPROCESSABLE, /* well-formed, but not what was said before */
    TG_CLASS_NOT_FOUND,  /* unknown model, path or object */
    TG_CLASS_METHOD,     /* path known, method not */
    TG_CLASS_TOO_LARGE,  /* body over the limit */
    TG_CLASS_HEADERS,    /* headers over the limits */
    TG_CLASS_LIMIT,      /* a rate or token limit of ours */
    TG_CLASS_UNPRICED,   /* no price for the model */
    TG_CLASS_EXHAUSTED,  /* every channel resting or at its limit */
    TG_CLASS_ACCOUNT,    /* the upstream refuses our account */
    TG_CLASS_ABSENT,     /* knowingly not offered */
    TG_CLASS_NO_CHANNEL, /* no channel left */
    TG_CLASS_UPSTREAM,   /* the upstream's own error, with its status */
    TG_CLASS_TIMEOUT,    /* upstream silent for too long */
    TG_CLASS_OVERLOAD,   /* we have no room or no store for it now */
    TG_CLASS_INTERNAL,   /* our fault */
    /* inside only */
    TG_CLASS_TRANSPORT,  /* connect, TLS, reset, protocol violation of an upstream */
    TG_CLASS_GONE,       /* the client has left */
    TG_CLASS_DOWN,       /* a store gave no answer; the call may or may not have run */
    TG_CLASS_CONFLICT,   /* exists already, or changed underneath */
    TG_CLASS_CONFIG,     /* configuration or installation is wrong */
    TG_CLASS__COUNT
};

enum tg_error_flag {
    TG_ERROR_CHANNEL = 1u << 0,       /* says something about the channel, not the request */
    TG_ERROR_KEY = 1u << 1,           /* says something about the channel's key */
    TG_ERROR_NO_RETRY = 1u << 2,      /* another channel would refuse it too */
    TG_ERROR_NEXT_CHANNEL = 1u << 3,  /* another channel may do it, this one is not to blame */
    TG_ERROR_PARTLY_USED = 1u << 4,   /* a 2xx body broke after part of it was used */
    TG_ERROR_MAYBE_ACCEPTED = 1u << 5 /* the upstream may have done (and charged) the work */
};

struct tg_error {
    enum tg_class class;
    unsigned flags;         /* enum tg_error_flag */
    int status;             /* upstream HTTP status, 0 when there was none */
    int64_t retry_after_ms; /* 0: not known */
    char code[48];          /* stable machine word, never empty when class != TG_OK */
    char type[48];          /* upstream error type, empty when not from an upstream */
    char param[64];         /* the request field at fault, may be empty */
    char message[512];
};

/* Fills <err> (NULL allowed) and returns <class>, so that `return tg_fail(…)` reads well. */
enum tg_class tg_fail(struct tg_error *err, enum tg_class class, const char *code,
                      const char *format, ...) printf_like(4, 5) non_null(3, 4);
#ifdef __clang_analyzer__ /* it cannot see that the answer is never TG_OK */
#define tg_fail(err, class, ...) ((void)tg_fail(err, class, __VA_ARGS__), class)
#endif

/* The word for a class in logs and tests ("auth", "no_channel", …). */
const char *tg_class_name(enum tg_class class);

#endif
