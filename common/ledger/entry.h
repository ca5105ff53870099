/* entry - one movement of money: the end of a request, a credit, an adjustment.
 *
 * Its id is the key of the books everywhere (Redis end marker, ledger_entry, spool): repeating an
 * entry changes nothing. The text form is one line: a JSON object, then a tab and the record as it
 * is; the spool and offline rows keep it.
 */
#ifndef TOLLGATE_LEDGER_ENTRY_H
#define TOLLGATE_LEDGER_ENTRY_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/id.h"

enum tg_entry_kind {
    TG_ENTRY_CHARGE,  /* a request that ended with a bill (maybe 0) */
    TG_ENTRY_REFUND,  /* a request that ended without one */
    TG_ENTRY_EXPIRED, /* a dead worker's hold, ended with what was earned */
    TG_ENTRY_CREDIT,  /* amount < 0: money for the user */
    TG_ENTRY_ADJUST,  /* token remain, unlimited, authver; amount 0 */
    TG_ENTRY_RESET    /* a plan's next period: what was left goes, its quota comes */
};

struct tg_funding {
    int64_t plan_id; /* 0: the wallet */
    int64_t period;  /* of the plan, when the deposit was taken; RESET: the one that begins */
};

struct tg_entry {
    struct tg_id id;
    enum tg_entry_kind kind;
    int64_t user_id, token_id, channel_id; /* 0: none */
    struct tg_funding funding;
    int64_t amount_quota;       /* what leaves the account; negative: what comes in */
    int64_t plan_quota;         /* what leaves the plan, where a script or fold has said so */
    int64_t grant_quota;        /* RESET: quota of the period that begins */
    int64_t token_delta_quota;  /* ADJUST: added to the token's remain */
    int token_unlimited;        /* ADJUST: 0, 1, or -1 to leave it */
    int64_t authver;            /* ADJUST: raised to this; 0 to leave it */
    int64_t spool_line;         /* its number in the spool file it was read from, else 0 */
    struct tg_span record;      /* JSON {"log":{…},"detail":{…}}, empty for none */
};

struct tg_entry_list {
    struct tg_entry *entries;
    size_t count;
};

const char *tg_entry_kind_name(enum tg_entry_kind kind);
bool tg_entry_kind_parse(const char *text, enum tg_entry_kind *ret) must_check non_null(1, 2);
void tg_entry_encode(const struct tg_entry *entry, struct tg_buf *out) non_null(1, 2);
enum tg_class tg_entry_decode(const char *text, size_t len, struct tg_arena *arena,
                              struct tg_entry *ret, struct tg_error *err) must_check
    non_null(1, 3, 4);

#endif
