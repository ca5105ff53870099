#include "common/ledger/audit.h"

#include "common/base/clock.h"
#include "common/store/journal.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 6, PAUSE_US = 300000, ANSWER_US = 5000000 };

struct run {
    const struct tg_audit *audit;
    struct tg_arena *arena;
    struct tg_error *err;
    struct tg_audit_books books;
    struct tg_audit_report report;
    struct tg_moment_account accounts[TG_MOMENT_ACCOUNTS]; /* the piece of a shard at hand */
    int64_t expected[TG_MOMENT_ACCOUNTS];
    size_t count;
};

static void compare(struct run *run, const char *account, int64_t id,
                    const struct tg_audit_difference *sums)
{
    struct tg_audit_report *report = &run->report;

    if (sums->books_quota == sums->other_quota)
        return;
    report->difference_count++;
    if (report->listed_count == TG_AUDIT_LISTED)
        return;
    report->differences[report->listed_count] = *sums;
    report->differences[report->listed_count].account = account;
    report->differences[report->listed_count].id = id;
    report->listed_count++;
}

#define SUMS(name, books, other)                                                               \
    (&(struct tg_audit_difference){.sum = (name), .books_quota = (books), .other_quota = (other)})

/* ---- what MySQL alone can tell */

static void compare_users(struct run *run)
{
    struct tg_audit_report *report = &run->report;

    for (size_t i = 0; i < run->books.user_count; i++) {
        const struct tg_audit_user *user = &run->books.users[i];
        int64_t ledger = user->credited - user->charged;

        compare(run, "user", user->id, SUMS("ledger", user->quota, ledger));
        compare(run, "user", user->id, SUMS("credits", user->credited, user->credit_entries));
        compare(run, "user", user->id, SUMS("offline", user->offline_quota, user->offline_bound));
        compare(run, "user", user->id, SUMS("log", user->to_log, user->logged));
        compare(run, "user", user->id, SUMS("sweep", user->swept, user->earned));
        report->users_quota += user->quota;
        report->ledger_quota += ledger;
        report->charged_quota += user->to_log;
        report->logged_quota += user->logged;
    }
    report->users = (int64_t)run->books.user_count;
}

static void compare_tokens(struct run *run)
{
    for (size_t i = 0; i < run->books.token_count; i++) {
        const struct tg_audit_token *token = &run->books.tokens[i];

        compare(run, "token", token->id,
                SUMS("offline", token->offline_quota, token->offline_bound));
        if (run->books.counts.folded_days == 0)
            compare(run, "token", token->id, SUMS("ledger", token->used, token->charged));
    }
}

/* ledger_day does not name plans. */
static void compare_plans(struct run *run)
{
    for (size_t i = 0; i < run->books.plan_count; i++) {
        const struct tg_audit_plan *plan = &run->books.plans[i];

        compare(run, "plan", plan->id, SUMS("offline", plan->offline_quota, plan->offline_bound));
        if (run->books.counts.folded_days == 0)
            compare(run, "plan", plan->id, SUMS("ledger", plan->remain, plan->granted));
    }
}

/* ---- what Redis says, piece by piece */

static void compare_piece(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct tg_moment_account *account = &run->accounts[i];
        int64_t redis = account->balance + account->held + account->pending;
        bool user = account->kind == TG_ACCOUNT_USER;
        const char *name = user                                  ? "user"
                           : account->kind == TG_ACCOUNT_TOKEN ? "token"
                                                                 : "plan";

        /* not loaded: what will be loaded is MySQL's balance less the holds, right by itself */
        if (!account->live)
            redis = run->expected[i];
        compare(run, name, account->id, SUMS("redis", run->expected[i], redis));
        if (user) {
            run->report.redis_quota += redis;
            run->report.loaded_users += account->live;
        }
    }
}

/* Is everything behind the snapshot's cursor still in the stream? */
static bool is_complete(const struct run *run, const struct tg_moment *moment)
{
    return tg_stream_id_compare(moment->last, moment->cursor) <= 0 ||
           tg_stream_id_compare(moment->first, moment->cursor) <= 0 ||
           tg_now_us() - run->books.read_at_us < run->audit->journal_keep_us;
}

/* *ret_done false: the shard was rebuilt or trimmed meanwhile, or is too far behind. */
static enum tg_class read_piece(struct run *run, int shard, int64_t *ret_waiting, bool *ret_done)
{
    struct tg_moment moment = {.accounts = run->accounts,
                               .count = run->count,
                               .cursor = run->books.cursors[shard].stream_id};
    struct tg_shard_call call = {.kv = run->audit->kv,
                                 .shard = shard,
                                 .epoch = run->books.cursors[shard].epoch,
                                 .deadline_at_us = tg_now_us() + ANSWER_US,
                                 .err = run->err};

    *ret_done = false;
    switch (tg_moment_read(&call, &moment)) {
    case TG_SHARD_OK:
        *ret_done = !moment.behind && is_complete(run, &moment);
        *ret_waiting = moment.waiting;
        if (*ret_done)
            compare_piece(run);
        run->count = 0;
        return TG_OK;
    case TG_SHARD_DOWN:
        return TG_CLASS_DOWN;
    default:
        return TG_OK;
    }
}

static void put(struct run *run, enum tg_account_kind kind, int64_t id, int64_t expected)
{
    run->accounts[run->count] = (struct tg_moment_account){.kind = kind, .id = id};
    run->expected[run->count++] = expected;
}

/* Where a shard's reader stands in the three lists. */
struct place {
    size_t user, token, plan;
};

/* Puts the next account of the shard; false at the end. */
static bool put_next(struct run *run, int shard, struct place *at)
{
    const struct tg_audit_books *books = &run->books;

    for (; at->user < books->user_count; at->user++)
        if (tg_shard_of(books->users[at->user].id) == shard) {
            put(run, TG_ACCOUNT_USER, books->users[at->user].id, books->users[at->user].quota);
            at->user++;
            return true;
        }
    for (; at->token < books->token_count; at->token++)
        if (tg_shard_of(books->tokens[at->token].user_id) == shard) {
            put(run, TG_ACCOUNT_TOKEN, books->tokens[at->token].id,
                books->tokens[at->token].remain);
            at->token++;
            return true;
        }
    for (; at->plan < books->plan_count; at->plan++)
        if (tg_shard_of(books->plans[at->plan].user_id) == shard) {
            put(run, TG_ACCOUNT_PLAN, books->plans[at->plan].id, books->plans[at->plan].remain);
            at->plan++;
            return true;
        }
    return false;
}

static enum tg_class read_shard(struct run *run, int shard, bool *ret_done)
{
    struct place at = {0};
    int64_t waiting = 0;
    enum tg_class class = TG_OK;

    *ret_done = true;
    run->count = 0;
    while (class == TG_OK && *ret_done) {
        bool more = put_next(run, shard, &at);

        if (!more && run->count == 0)
            break;
        if (!more || run->count == TG_MOMENT_ACCOUNTS)
            class = read_piece(run, shard, &waiting, ret_done);
    }
    run->report.journal_waiting += waiting;
    return class;
}

static enum tg_class read_holds(struct run *run, int shard)
{
    struct tg_audit_report *report = &run->report;
    struct tg_shard_call call = {.kv = run->audit->kv,
                                 .shard = shard,
                                 .deadline_at_us = tg_now_us() + ANSWER_US,
                                 .err = run->err};
    struct tg_hold *holds;
    size_t count;
    enum tg_class class = tg_shard_holds(&call, run->arena, &holds, &count);

    for (size_t i = 0; class == TG_OK && i < count; i++) {
        report->open_holds++;
        report->held_quota += holds[i].amount_quota;
        if (report->hold_count < TG_AUDIT_LISTED)
            report->holds[report->hold_count++] = holds[i];
    }
    return class;
}

/* *ret_done: every shard could be compared. */
static enum tg_class try_once(struct run *run, bool *ret_done)
{
    struct tg_audit_report *report = &run->report;
    enum tg_class class = tg_audit_read(run->audit->main_db, run->audit->log_db, run->arena,
                                        &run->books, run->err);

    *report = (struct tg_audit_report){.counts = run->books.counts};
    report->differences =
        tg_arena_calloc(run->arena, TG_AUDIT_LISTED, sizeof *report->differences);
    report->holds = tg_arena_calloc(run->arena, TG_AUDIT_LISTED, sizeof *report->holds);
    for (int i = 0; class == TG_OK && run->audit->kv != NULL && i < TG_SHARDS; i++) {
        bool done = false;

        class = read_shard(run, i, &done);
        if (class == TG_OK && !done)
            report->unread_shards[report->unread_count++] = i;
        if (class == TG_OK)
            class = read_holds(run, i);
    }
    *ret_done = report->unread_count == 0;
    if (class != TG_OK)
        return class;
    compare_users(run);
    compare_tokens(run);
    compare_plans(run);
    report->clean = report->difference_count == 0 && report->unread_count == 0 &&
                    report->counts.orphans == 0 && report->counts.doubt_count == 0;
    return TG_OK;
}

enum tg_class tg_audit_run(const struct tg_audit *audit, struct tg_arena *arena,
                           struct tg_audit_report *ret, struct tg_error *err)
{
    struct run run = {.audit = audit, .arena = arena, .err = err};
    bool done = false;
    enum tg_class class = TG_OK;

    for (int i = 0; class == TG_OK && !done && i < TRIES; i++) {
        if (i > 0)
            tg_clock_sleep_us(PAUSE_US);
        class = try_once(&run, &done);
    }
    if (class == TG_OK)
        *ret = run.report;
    return class;
}
