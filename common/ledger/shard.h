/* shard - the daemon's side of the live books: read, trim, sweep, rebuild. See ledger.h.
 *
 * Every call takes a connection that the daemon holds, so that what was read and what is changed
 * is of one server (its run id is compared by each script).
 *
 * Threads  one per connection.  Blocks  up to the deadline.
 */
#ifndef TOLLGATE_LEDGER_SHARD_H
#define TOLLGATE_LEDGER_SHARD_H

#include "common/ledger/ledger.h"

enum tg_shard_answer {
    TG_SHARD_OK,
    TG_SHARD_REBUILDING, /* state missing, off, of another epoch or another server */
    TG_SHARD_FENCED,     /* begin / finish: a newer epoch is there */
    TG_SHARD_LATE,
    TG_SHARD_MISSING,    /* sweep: the account must be loaded first */
    TG_SHARD_ENDED,
    TG_SHARD_DOWN
};

struct tg_shard_state {
    bool exists, on;
    int64_t epoch;
    char run_id[TG_RUN_ID_TEXT];
};
struct tg_shard_call {
    struct tg_kv *kv;
    int shard;
    int64_t epoch;
    int64_t deadline_at_us;
    struct tg_error *err;
};

enum tg_shard_answer tg_shard_read_state(const struct tg_shard_call *call,
                                         struct tg_shard_state *ret) must_check non_null(1, 2);

struct tg_journal_entry {
    char stream_id[TG_STREAM_ID_TEXT];
    struct tg_entry entry;
    const char *bad; /* not NULL: the fields could not be read; why */
};
struct tg_journal_page {
    const char *after; /* in: entries behind this id ("0-0" from the start), oldest first */
    size_t most;       /* in */
    struct tg_journal_entry *entries;
    size_t count;
};
/* Owns: the arena. */
enum tg_class tg_shard_journal(const struct tg_shard_call *call, struct tg_arena *arena,
                               struct tg_journal_page *page) must_check non_null(1, 2, 3);

/* The id of the last entry ever added ("0-0"), and the stream's length. */
enum tg_class tg_shard_journal_tail(const struct tg_shard_call *call,
                                    char ret_last[TG_STREAM_ID_TEXT], int64_t *ret_len) must_check
    non_null(1, 2, 3);
/* Drops entries up to <stream_id> that are older than <keep_ms>, and end markers older than
 * 15 min whose entries were applied. */
enum tg_shard_answer tg_shard_trim(const struct tg_shard_call *call, const char *stream_id,
                                   int64_t keep_ms) must_check non_null(1, 2);

struct tg_hold {
    struct tg_id request_id;
    int64_t user_id, token_id, plan_id, amount_quota, earned_quota;
    bool lapsed;
    char node[64];
    int64_t worker;
    int64_t period;        /* of the plan, when the deposit was taken */
    int64_t due_server_ms; /* 0 when it has none (lapsed) */
};
/* All open holds of the shard; *ret_count of them. Owns: the arena. */
enum tg_class tg_shard_holds(const struct tg_shard_call *call, struct tg_arena *arena,
                             struct tg_hold **ret, size_t *ret_count) must_check
    non_null(1, 2, 3, 4);
/* Lets one overdue hold lapse: its amount goes back, it stays with what it had earned. */
enum tg_shard_answer tg_shard_lapse(const struct tg_shard_call *call,
                                    const struct tg_hold *hold) must_check non_null(1, 2);

/* The rebuild's two steps: off with a larger epoch, and on again if still so. */
enum tg_shard_answer tg_shard_begin(const struct tg_shard_call *call) must_check non_null(1);
enum tg_shard_answer tg_shard_finish(const struct tg_shard_call *call,
                                     const struct tg_id *ended, size_t ended_count) must_check
    non_null(1);

#endif
