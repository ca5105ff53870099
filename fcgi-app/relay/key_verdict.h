/* key_verdict - what does an upstream's refusal mean for the key that was used? Pure.
 *
 *   money or plan used up (402; words)         EXHAUSTED  to its reset, looked at every hour
 *   bad key (401; 400, 403, 429 with words)    SUSPENDED
 *   429 of a plan's window, with its end       EXHAUSTED  to the latest end: they are AND-ed
 *   429 of a day, no end known                 EXHAUSTED  to its reset, looked at every 15 min
 *   429 that asks to wait                      RESTING    as long as asked, 1 s to 24 h
 *   429 otherwise                              RESTING    60 s
 *   anything else: the request's own fault, the model, the region, an overloaded vendor   nothing
 *
 * A bare 403 says nothing about a key. A vendor names the daily quota in what is a refusal for
 * seconds (Gemini): a day is believed when the key is refused so again right after its rest.
 *
 * Threads  any.  Blocks  no.  Source  SCHEDULING "Keys of a channel"; vendors' pages, named in the
 * tables of key_verdict.c.
 */
#ifndef TOLLGATE_RELAY_KEY_VERDICT_H
#define TOLLGATE_RELAY_KEY_VERDICT_H

#include "common/base/error.h"
#include "fcgi-app/route/key_pick.h"

/* Headers of a refusal that say when; the order is that of tg_key_sign_names. */
enum tg_key_sign {
    TG_SIGN_RETRY_AFTER_MS,
    TG_SIGN_MS_RETRY_AFTER_MS,
    TG_SIGN_RETRY_AFTER,
    TG_SIGN_LEFT_FIRST,                           /* pairs: what is left, and when again */
    TG_SIGN_LEFT_END = TG_SIGN_LEFT_FIRST + 2 * 8,
    TG_SIGN_WINDOW_FIRST = TG_SIGN_LEFT_END,      /* pairs: status of a plan's window, its end */
    TG_SIGN_WINDOW_END = TG_SIGN_WINDOW_FIRST + 2 * 5,
    TG_SIGN_CODEX_FIRST = TG_SIGN_WINDOW_END,     /* triples: percent used, end, wait */
    TG_SIGN_CODEX_END = TG_SIGN_CODEX_FIRST + 3 * 2,
    TG_SIGN__COUNT = TG_SIGN_CODEX_END
};
extern const char *const tg_key_sign_names[TG_SIGN__COUNT];

struct tg_key_evidence {
    const struct tg_error *error;           /* as classify.h has left it */
    const char *const *signs;               /* TG_SIGN__COUNT, NULL for absent; NULL: none */
    struct tg_span body;                    /* of the refusal */
    int64_t now_unix_us;
    int64_t reset_s;                        /* when the key's next day begins */
    int64_t pacific_s;                      /* when a day begins at the vendor that counts so */
    bool rested;                            /* this was its first call after a rest */
};
struct tg_key_verdict {
    enum tg_key_state state; /* ACTIVE: nothing is said about the key */
    int64_t until_s;
    const char *reason; /* a word */
};

/* The wait that Google asks for in its body (RetryInfo), in seconds. False: none. */
bool tg_google_retry_delay(struct tg_span body, int64_t *ret_s) must_check non_null(2);

struct tg_key_verdict tg_key_judge(const struct tg_key_evidence *evidence) must_check non_null(1);

/* Code, type or message says that the account has no money or its plan is used up ... */
bool tg_error_says_money(const struct tg_error *error) must_check non_null(1);
/* ... or that key or account are refused for good. */
bool tg_error_says_bad_key(const struct tg_error *error) must_check non_null(1);

#endif
