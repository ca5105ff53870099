#include "tests/histories/truth.h"

#include "tests/histories/acts.h"
#include "tests/histories/seam.h"
#include "tests/histories/servers.h"

#include "common/base/clock.h"
#include "common/ledger/audit.h"
#include "common/ledger/moment.h"
#include "common/ledger/replay.h"
#include "common/ledger/spool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 512, ANSWER_US = 10000000 };

struct request {
    struct tg_id id;
    int64_t most, bill;
    bool billed;
};
struct row { /* of ledger_entry */
    struct tg_id id;
    char kind[16];
    int64_t user_id, token_id, plan_id, amount, plan_out, period;
};

static struct request requests[MOST];
static struct tg_entry credits[MOST];
static struct row rows[2 * MOST], seen[2 * MOST];
static size_t request_count, credit_count, row_count, seen_count;
static char why[512];

static bool wrong(const char *format, ...) printf_like(1, 2);
static bool wrong(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return false;
}

static const char *text_of(const struct tg_id *id)
{
    static char text[TG_ID_TEXT];

    tg_id_format(id, text);
    return text;
}

static bool same(const struct tg_id *a, const struct tg_id *b)
{
    return memcmp(a->bytes, b->bytes, TG_ID_BYTES) == 0;
}

void truth_reset(void)
{
    request_count = credit_count = row_count = seen_count = 0;
}

void truth_begin(const struct tg_id *id, int64_t most)
{
    tg_assert(request_count < MOST);
    requests[request_count++] = (struct request){.id = *id, .most = most};
}

static struct request *find_request(const struct tg_id *id)
{
    for (size_t i = 0; i < request_count; i++)
        if (same(&requests[i].id, id))
            return &requests[i];
    return NULL;
}

void truth_bill(const struct tg_id *id, int64_t amount)
{
    struct request *request = find_request(id);

    request->billed = true;
    request->bill = amount;
}

void truth_credit(const struct tg_entry *entry)
{
    tg_assert(credit_count < MOST);
    credits[credit_count++] = *entry;
}

void truth_overdue(void)
{
    tg_assert(tg_db_script(world.main_db,
                           "UPDATE offline_hold SET due_at = NOW(6) - INTERVAL 1 SECOND",
                           NULL) == TG_OK);
}

/* ---- what MySQL says */

static struct tg_db_rows *ask(const char *sql)
{
    struct tg_db_rows *answer;

    if (tg_db_select(world.main_db, sql, NULL, 0, &answer) != TG_OK) {
        fprintf(stderr, "%s\n", tg_db_error(world.main_db)->message);
        tg_assert(!"the driver's own queries work");
    }
    return answer;
}

static void read_rows(void)
{
    struct tg_db_rows *answer =
        ask("SELECT request_id, kind, user_id, token_id, plan_id, amount_quota, plan_quota,"
            " plan_period FROM ledger_entry");

    row_count = 0;
    while (tg_db_next(answer)) {
        struct row *row = &rows[row_count++];

        tg_assert(row_count < TG_COUNT_OF(rows));
        memcpy(row->id.bytes, tg_db_bytes(answer, 0).ptr, TG_ID_BYTES);
        snprintf(row->kind, sizeof row->kind, "%s", tg_db_text(answer, 1));
        row->user_id = tg_db_int(answer, 2);
        row->token_id = tg_db_int(answer, 3);
        row->plan_id = tg_db_int(answer, 4);
        row->amount = tg_db_int(answer, 5);
        row->plan_out = tg_db_int(answer, 6);
        row->period = tg_db_int(answer, 7);
    }
    tg_db_rows_free(answer);
}

/* Histories in which nobody goes offline would prove nothing about it. */
static void count_offline(void)
{
    struct tg_db_rows *answer = ask("SELECT (SELECT COUNT(*) FROM offline_hold)"
                                    " + (SELECT COUNT(*) FROM offline_entry)");

    if (tg_db_next(answer))
        world.offline_seen += tg_db_int(answer, 0) > 0;
    tg_db_rows_free(answer);
}

static const struct row *find_row(const struct row *list, size_t count, const struct tg_id *id)
{
    for (size_t i = 0; i < count; i++)
        if (same(&list[i].id, id))
            return &list[i];
    return NULL;
}

static bool is_request(const struct row *row)
{
    return strcmp(row->kind, "credit") != 0 && strcmp(row->kind, "adjust") != 0 &&
           strcmp(row->kind, "reset") != 0;
}

/* With "latesweep" the difference has an id of its own. */
static int64_t charged(const struct row *row)
{
    struct tg_id late = row->id;
    const struct row *other;

    late.bytes[8] = 129;
    other = find_row(rows, row_count, &late);
    return row->amount + (other != NULL ? other->amount : 0);
}

static bool entries_are_right(void)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        const struct request *request = find_request(&row->id);

        if (!is_request(row) || row->id.bytes[8] == 129)
            continue;
        if (request == NULL)
            return wrong("entry %s belongs to no request", text_of(&row->id));
        if (request->billed && !(world.rules.latesweep && !world.quiet) &&
            charged(row) != request->bill)
            return wrong("bill: request %s was charged %" PRId64 " (%s), right is %" PRId64,
                         text_of(&row->id), charged(row), row->kind, request->bill);
        if (row->amount < 0 || row->amount > request->most)
            return wrong("bill: request %s was charged %" PRId64 " of at most %" PRId64,
                         text_of(&row->id), row->amount, request->most);
    }
    return true;
}

/* I8 */
static bool nothing_was_changed(void)
{
    for (size_t i = 0; i < seen_count; i++) {
        const struct row *now = find_row(rows, row_count, &seen[i].id);

        if (now == NULL || now->amount != seen[i].amount || strcmp(now->kind, seen[i].kind) != 0)
            return wrong("entry %s was changed or is gone", text_of(&seen[i].id));
    }
    memcpy(seen, rows, row_count * sizeof *rows);
    seen_count = row_count;
    return true;
}

struct sums {
    int64_t quota, used, requests, remain, token_used;
};

static struct sums sums_of(int64_t user_id)
{
    struct sums sums = {.remain = BEGIN_REMAIN};

    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];

        if (row->user_id != user_id)
            continue;
        sums.quota -= row->plan_id == 0 ? row->amount : 0;
        sums.remain -= row->token_id != 0 ? row->amount : 0;
        if (!is_request(row))
            continue;
        sums.used += row->amount;
        sums.token_used += row->amount;
        sums.requests++;
    }
    for (size_t i = 0; i < credit_count; i++)
        if (credits[i].user_id == user_id && find_row(rows, row_count, &credits[i].id) != NULL)
            sums.remain += credits[i].token_delta_quota;
    return sums;
}

static bool accounts_are_right(void)
{
    struct tg_db_rows *answer = ask("SELECT u.id, u.quota, u.used_quota, u.request_count,"
                                    " t.remain_quota, t.used_quota FROM users u JOIN tokens t"
                                    " ON t.user_id = u.id");
    bool right = true;

    while (right && tg_db_next(answer)) {
        int64_t user = tg_db_int(answer, 0);
        const struct sums sums = sums_of(user);

        if (tg_db_int(answer, 1) != sums.quota)
            right = wrong("I1: user %" PRId64 " has %" PRId64 " in MySQL, entries say %" PRId64,
                          user, tg_db_int(answer, 1), sums.quota);
        else if (tg_db_int(answer, 4) != sums.remain)
            right = wrong("I1: the token of user %" PRId64 " has %" PRId64
                          ", entries say %" PRId64, user, tg_db_int(answer, 4), sums.remain);
        else if (tg_db_int(answer, 2) != sums.used || tg_db_int(answer, 3) != sums.requests ||
                 tg_db_int(answer, 5) != sums.token_used)
            right = wrong("I6: used_quota or request_count of user %" PRId64, user);
    }
    tg_db_rows_free(answer);
    return right;
}

/* No bill is larger than its deposit here: all of it leaves the period that it is of, or nothing
 * leaves the one that runs. */
static bool leaves_its_period(const struct row *row, int64_t running)
{
    if (row->plan_out == row->amount)
        return true;
    return row->plan_out == 0 && row->period < running;
}

static bool plan_is_right(void)
{
    struct tg_db_rows *answer = ask("SELECT remain_quota, period_number FROM subscriptions");
    int64_t remain = 0, period = 0, left = 0, resets = 0;

    if (tg_db_next(answer)) {
        remain = tg_db_int(answer, 0);
        period = tg_db_int(answer, 1);
    }
    tg_db_rows_free(answer);
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];

        left -= row->plan_out;
        resets += strcmp(row->kind, "reset") == 0;
        if (row->plan_id != 0 && is_request(row) && row->id.bytes[8] != 129 &&
            !leaves_its_period(row, period))
            return wrong("I1: request %s of period %" PRId64 " was charged %" PRId64
                         ", the plan %" PRId64, text_of(&row->id), row->period, row->amount,
                         row->plan_out);
    }
    if (remain != left)
        return wrong("I1: the plan has %" PRId64 ", entries say %" PRId64, remain, left);
    if (remain > PLAN_QUOTA)
        return wrong("I1: the plan has %" PRId64 " of %d", remain, PLAN_QUOTA);
    if (resets != period)
        return wrong("I1: %" PRId64 " entries began %" PRId64 " periods", resets, period);
    return true;
}

/* ---- what Redis says, when the shard is on */

static bool redis_is_right(void)
{
    struct tg_moment_account accounts[2 * USERS + 1];
    struct tg_moment moment = {.accounts = accounts};
    int64_t expected[2 * USERS + 1] = {0};
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_error err;
    struct tg_shard_call call = {.kv = servers_link(), .shard = SHARD,
                                 .deadline_at_us = tg_now_us() + ANSWER_US, .err = &err};
    struct tg_db_rows *answer =
        ask("SELECT 117, id, quota FROM users UNION ALL SELECT 116, id, remain_quota FROM tokens"
            " UNION ALL SELECT 112, id, remain_quota FROM subscriptions");

    for (; tg_db_next(answer); moment.count++) {
        accounts[moment.count] =
            (struct tg_moment_account){.kind = (enum tg_account_kind)tg_db_int(answer, 0),
                                       .id = tg_db_int(answer, 1)};
        expected[moment.count] = tg_db_int(answer, 2);
    }
    tg_db_rows_free(answer);
    tg_assert(tg_store_cursors(world.main_db, cursors, &err) == TG_OK);
    moment.cursor = cursors[SHARD].stream_id;
    call.epoch = cursors[SHARD].epoch;
    if (strcmp(cursors[SHARD].run_id, tg_kv_run_id(call.kv)) != 0 ||
        tg_moment_read(&call, &moment) != TG_SHARD_OK || moment.behind)
        return true;
    for (size_t i = 0; i < moment.count; i++) {
        const struct tg_moment_account *account = &accounts[i];
        int64_t sum = account->balance + account->held + account->pending;

        if (account->live && sum != expected[i])
            return wrong("I1: %c%" PRId64 ": Redis has %" PRId64 " + %" PRId64 " held + %" PRId64
                         " on its way, MySQL %" PRId64, account->kind, account->id,
                         account->balance, account->held, account->pending, expected[i]);
        if (world.calm && account->live && account->kind == TG_ACCOUNT_USER &&
            account->balance < 0)
            return wrong("I4: user %" PRId64 " is at %" PRId64, account->id, account->balance);
    }
    return true;
}

bool truth_holds(const char **ret_why)
{
    *ret_why = why;
    read_rows();
    count_offline();
    return entries_are_right() && nothing_was_changed() && accounts_are_right() &&
           plan_is_right() && redis_is_right();
}

/* ---- at the end */

static bool nothing_is_lost(void)
{
    for (size_t i = 0; i < request_count; i++)
        if (requests[i].billed && find_row(rows, row_count, &requests[i].id) == NULL)
            return wrong("lost: the end of request %s (%" PRId64 ")", text_of(&requests[i].id),
                         requests[i].bill);
    for (size_t i = 0; i < credit_count; i++) {
        const struct row *row = find_row(rows, row_count, &credits[i].id);

        if (row == NULL || row->amount != credits[i].amount_quota)
            return wrong("lost: credit or adjustment %s", text_of(&credits[i].id));
    }
    return true;
}

static bool nothing_is_left(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_error err;
    const struct tg_shard_call call = {.kv = servers_link(), .shard = SHARD,
                                       .deadline_at_us = tg_now_us() + ANSWER_US, .err = &err};
    struct tg_hold *holds;
    struct tg_spool_file *files;
    size_t count = 0, left = 0;
    struct tg_db_rows *answer =
        ask("SELECT (SELECT COUNT(*) FROM credits WHERE applied_at IS NULL)"
            " + (SELECT COUNT(*) FROM adjustments WHERE applied_at IS NULL)"
            " + (SELECT COUNT(*) FROM plan_resets WHERE applied_at IS NULL)"
            " + (SELECT COUNT(*) FROM ledger_reject) + (SELECT COUNT(*) FROM offline_hold)"
            " + (SELECT COUNT(*) FROM offline_entry)"
            " + (SELECT SUM(ABS(offline_quota)) FROM users)"
            " + (SELECT SUM(ABS(offline_quota)) FROM tokens)"
            " + (SELECT SUM(ABS(offline_quota)) FROM subscriptions)");
    bool right = true;

    tg_assert(tg_db_next(answer));
    if (tg_db_int(answer, 0) != 0)
        right = wrong("I3: rows wait or are refused");
    tg_db_rows_free(answer);
    tg_assert(tg_shard_holds(&call, arena, &holds, &count) == TG_OK);
    if (right && count > 0)
        right = wrong("I3: %zu holds are open, of %s", count, text_of(&holds[0].request_id));
    for (int i = 0; right && i < NODES; i++) {
        tg_assert(tg_spool_list(world.spool, world.workers[i].node, arena, &files, &count) ==
                  TG_OK);
        for (size_t j = 0; j < count; j++)
            left += files[j].writer_alive ? 0 : 1;
    }
    if (right && left > 0)
        right = wrong("I3: %zu spool files are left", left);
    tg_arena_free(arena);
    return right;
}

bool truth_is_at_rest(void)
{
    read_rows();
    return nothing_is_lost() && nothing_is_left();
}

/* I7: everything there was, told once more. */
static bool nothing_changes_when_told_again(void)
{
    struct process *daemon = &world.daemons[0];
    struct tg_replay_item items[2 * MOST];
    struct tg_entry entries[MOST];
    struct tg_error err;
    struct tg_replay replay = {.ledger = daemon->ledger, .kv = servers_link(),
                               .db = world.main_db,
                               .deadline_at_us = tg_now_us() + ANSWER_US, .err = &err};
    size_t count = 0;

    for (size_t i = 0; i < request_count; i++) {
        const struct row *row = find_row(rows, row_count, &requests[i].id);

        if (row == NULL)
            continue;
        entries[count] = (struct tg_entry){.id = row->id, .user_id = row->user_id,
                                           .token_id = row->token_id, .amount_quota = row->amount,
                                           .token_unlimited = -1};
        items[count] = (struct tg_replay_item){.entry = &entries[count]};
        count++;
    }
    for (size_t i = 0; i < credit_count; i++)
        items[count++] = (struct tg_replay_item){.entry = &credits[i]};
    if (tg_replay_run(&replay, items, count) != TG_OK)
        return wrong("the replay at the end: %s", err.message);
    for (size_t i = 0; i < count; i++)
        if (items[i].fate != TG_REPLAY_KNOWN)
            return wrong("I7: %s is not known", text_of(&items[i].entry->id));
    return true;
}

static bool the_audit_agrees(void)
{
    struct tg_arena *arena = tg_arena_new();
    const struct tg_audit audit = {.main_db = world.main_db, .log_db = world.log_db,
                                   .kv = servers_link(), .journal_keep_us = 120000000};
    struct tg_audit_report report;
    struct tg_error err;
    bool clean;

    if (tg_audit_run(&audit, arena, &report, &err) != TG_OK)
        return wrong("audit: %s", err.message);
    clean = report.clean;
    if (!clean && report.difference_count > 0)
        (void)wrong("audit: %s %" PRId64 " %s: %" PRId64 " is %" PRId64,
                    report.differences[0].account, report.differences[0].id,
                    report.differences[0].sum, report.differences[0].books_quota,
                    report.differences[0].other_quota);
    else if (!clean)
        (void)wrong("audit: %zu shards unread, %" PRId64 " orphans", report.unread_count,
                    report.counts.orphans);
    tg_arena_free(arena);
    return clean;
}

bool truth_at_the_end(const char **ret_why)
{
    return truth_holds(ret_why) && nothing_is_lost() && nothing_is_left() &&
           nothing_changes_when_told_again() && the_audit_agrees();
}
