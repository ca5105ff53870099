/* The proof that the audit would see it: one fault of each kind is put into a day's work, and the
 * audit must be red, in the right line.
 *
 * A day: requests with deposit, spool line and settle; the daemon's work; then the worker dies, its
 * spool is replayed, its open deposits are swept. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"

#include "common/base/clock.h"
#include "common/ledger/spool.h"
#include "common/ledger/sweep.h"
#include "common/store/log_batch.h"

#include <stdio.h>
#include <sys/stat.h>

enum { DEPOSIT = 100, REQUESTS = 6, PATIENCE_US = 10000000, WORKER = 77 };

static struct site *site;
static struct tg_spool *spool;
static int64_t served; /* what the provider did for user 1 */

static int start(void **state)
{
    (void)state;
    site = site_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    site_stop(site);
    return 0;
}

static int morning(void **state)
{
    const struct tg_spool_conf conf = {.folder = site->spool, .node = "here", .worker = WORKER};

    (void)state;
    site_reset(site);
    served = 0;
    assert_int_equal(tg_spool_open(&conf, &spool, &site->err), TG_OK);
    return 0;
}

/* What may be left out, or done twice. */
struct mistakes {
    bool no_settle, no_line, line_lost, refund_twice, no_entry, applied_twice, dies;
    bool earned_lost;      /* by Redis, behind the lapse */
    bool earned_forgotten; /* by the sweep */
    bool restarts;         /* the daemon */
};

static void earn(const struct tg_entry *entry, int64_t earned)
{
    const struct tg_extend extend = {.request_id = entry->id,
                                     .user_id = entry->user_id,
                                     .token_id = entry->token_id,
                                     .amount_quota = DEPOSIT,
                                     .earned_quota = earned};

    assert_int_equal(
        tg_ledger_extend(site->ledger, &extend, tg_now_us() + PATIENCE_US, &site->err),
        TG_LEDGER_OK);
}

/* The last line of the spool becomes blank, as a bad block or a wrong hand would do it. */
static void append_and_lose(const struct tg_entry *entry)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    size_t count;
    struct stat before, after;
    FILE *file;

    assert_int_equal(tg_spool_list(site->spool, "here", arena, &files, &count), TG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(stat(files[0].path, &before), 0);
    assert_int_equal(tg_spool_append(spool, entry, &site->err), TG_OK);
    assert_int_equal(stat(files[0].path, &after), 0);
    file = fopen(files[0].path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, before.st_size, SEEK_SET), 0);
    for (off_t i = before.st_size; i < after.st_size; i++)
        assert_int_equal(fputc('\n', file), '\n');
    assert_int_equal(fclose(file), 0);
    tg_arena_free(arena);
}

static void serve(const struct mistakes *mistakes, int64_t bill)
{
    struct tg_entry entry = *books_charge(1, bill);

    site_reserve(site, &entry, DEPOSIT);
    served += bill;
    if (mistakes->dies)
        earn(&entry, bill);
    if (mistakes->dies)
        return;
    if (mistakes->line_lost)
        append_and_lose(&entry);
    else if (!mistakes->no_line)
        assert_int_equal(tg_spool_append(spool, &entry, &site->err), TG_OK);
    if (!mistakes->no_settle)
        site_settle(site, &entry);
    if (mistakes->refund_twice)
        test_redis_say(site->redis, "HINCRBY", "tg:{s01}:user:1", "quota", "100", NULL);
    if (mistakes->no_entry)
        site_drop_last(site, 1);
}

static void apply_again(void)
{
    books_run(site->books, "DELETE FROM ledger_entry WHERE kind = 'charge'"
                           " ORDER BY request_id LIMIT 1;"
                           "UPDATE ledger_cursor SET stream_id = '0-0' WHERE shard = 1");
    site_apply(site, 1);
}

static void lose_earned(void)
{
    test_redis_say(site->redis, "EVAL",
                   "local all = redis.call('HGETALL', KEYS[1]) for i = 2, #all, 2 do"
                   " redis.call('HSET', KEYS[1], all[i - 1],"
                   " (all[i]:gsub('^(%S+ %S+ %S+ %S+) %S+', '%1 0'))) end return 1",
                   "1", "tg:{s01}:holds", NULL);
}

/* What a sweep would do that ends a request with nothing. */
static void expire_for_nothing(void)
{
    const struct tg_shard_call call = {.kv = site->kv,
                                       .shard = 1,
                                       .deadline_at_us = tg_now_us() + PATIENCE_US,
                                       .err = &site->err};
    struct tg_arena *arena = tg_arena_new();
    struct tg_hold *holds;
    struct tg_entry entry = *books_charge(1, 0);
    size_t count;

    assert_int_equal(tg_shard_holds(&call, arena, &holds, &count), TG_OK);
    assert_int_equal(count, 1);
    entry.id = holds[0].request_id;
    entry.kind = TG_ENTRY_EXPIRED;
    site_settle(site, &entry);
    tg_arena_free(arena);
}

/* The worker ends, in order unless it died; what it wrote is told, then what it held is ended. */
static void evening(const struct mistakes *mistakes)
{
    struct tg_spool_watch *watch = tg_spool_watch_new(site->spool, "here");
    const struct tg_replay replay = site_replay(site);
    struct tg_sweep sweep = {.replay = &replay, .watch = watch, .node = "here"};
    struct tg_swept swept;
    size_t moved;
    bool clear = false;

    if (!mistakes->dies)
        tg_spool_end(spool);
    tg_spool_close(spool);
    tg_spool_watch_set_ripe(watch, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tg_spool_watch_round(watch, &replay, &clear), TG_OK);
        site_apply(site, 1);
        tg_clock_sleep_us(2000); /* leases are of a millisecond */
        assert_int_equal(tg_sweep_shard(&sweep, 1, site_epoch(site, 1), &swept), TG_OK);
        site_apply(site, 1);
        if (mistakes->restarts) { /* the daemon; it comes back without its memory */
            tg_spool_watch_free(watch);
            watch = tg_spool_watch_new(site->spool, "here");
            tg_spool_watch_set_ripe(watch, 0);
            sweep.watch = watch;
        }
        if (mistakes->earned_lost && i == 0) /* lapsed, and not ended yet */
            lose_earned();
        if (mistakes->earned_forgotten && i == 0)
            expire_for_nothing();
    }
    assert_true(clear);
    assert_int_equal(tg_log_batch_move(site->books->main_db, site->books->log_db, 100, &moved,
                                       &site->err),
                     TG_OK);
    tg_spool_watch_free(watch);
}

static const struct tg_audit_report *day(const struct mistakes *mistakes)
{
    static const struct mistakes none;

    for (int i = 0; i < REQUESTS; i++)
        serve(i == REQUESTS / 2 ? mistakes : &none, 10 + i);
    site_apply(site, 1);
    if (mistakes->applied_twice)
        apply_again();
    evening(mistakes);
    return site_audit(site);
}

static bool has_line(const struct tg_audit_report *report, const char *sum)
{
    for (size_t i = 0; i < report->listed_count; i++)
        if (strcmp(report->differences[i].account, "user") == 0 &&
            report->differences[i].id == 1 && strcmp(report->differences[i].sum, sum) == 0)
            return true;
    return false;
}

/* One doubt, of this kind. */
static void doubts_only(const struct tg_audit_report *report, const char *kind)
{
    assert_false(report->clean);
    assert_int_equal(report->difference_count, 0);
    assert_int_equal(report->counts.doubt_count, 1);
    assert_string_equal(report->counts.doubts[0].kind, kind);
}

static void a_day_without_a_mistake_is_clean(void **state)
{
    const struct tg_audit_report *report = day(&(struct mistakes){0});

    (void)state;
    assert_true(report->clean);
    assert_int_equal(report->charged_quota, served);
    assert_int_equal(report->logged_quota, served);
    assert_int_equal(report->open_holds, 0);
}

/* A worker that dies before its settle is no mistake: what was earned is charged. */
static void a_dead_worker_is_clean_too(void **state)
{
    const struct tg_audit_report *report = day(&(struct mistakes){.dies = true});

    (void)state;
    assert_true(report->clean);
    assert_int_equal(report->charged_quota, served);
    assert_int_equal(report->counts.expired_empty, 0);
}

/* Redis, MySQL and the log agree with each other; but the worker ended in order, and a request that
 * it had begun did not. */
static void a_skipped_settle(void **state)
{
    const struct tg_audit_report *report =
        day(&(struct mistakes){.no_settle = true, .no_line = true});
    bool was_there;

    (void)state;
    assert_int_equal(served - report->charged_quota, 10 + REQUESTS / 2);
    doubts_only(report, "unsettled");
    assert_int_equal(report->counts.expired_empty, 1);
    assert_memory_equal(report->counts.doubts[0].request_id.bytes,
                        report->counts.expired[0].bytes, TG_ID_BYTES);
    assert_int_equal(tg_doubt_accept(site->books->main_db, report->counts.doubts[0].id,
                                     &was_there, &site->err),
                     TG_OK);
    assert_true(was_there);
    assert_true(site_audit(site)->clean);
}

/* The daemon was started anew between the worker's end and the sweep. */
static void a_skipped_settle_is_seen_by_the_next_daemon(void **state)
{
    const struct tg_audit_report *report =
        day(&(struct mistakes){.no_settle = true, .no_line = true, .restarts = true});

    (void)state;
    doubts_only(report, "unsettled");
}

/* The settle alone is told again from its line. */
static void a_lost_settle_is_no_difference(void **state)
{
    const struct tg_audit_report *report = day(&(struct mistakes){.no_settle = true});

    (void)state;
    assert_true(report->clean);
    assert_int_equal(report->charged_quota, served);
}

/* The settle never reached Redis, and the line that would have told it again is gone: the numbers
 * of the others show it. */
static void a_lost_spool_line(void **state)
{
    const struct tg_audit_report *report =
        day(&(struct mistakes){.no_settle = true, .line_lost = true});

    (void)state;
    assert_int_equal(served - report->charged_quota, 10 + REQUESTS / 2);
    assert_false(report->clean);
    assert_int_equal(report->counts.doubt_count, 2); /* it is also left open */
    assert_string_equal(report->counts.doubts[0].kind, "spool");
    assert_non_null(
        strstr(report->counts.doubts[0].detail, "lines 4 to 4 are missing in here.77."));
    assert_string_equal(report->counts.doubts[1].kind, "unsettled");
}

/* Nothing comes behind it: the file's own count shows it. */
static void a_lost_last_line(void **state)
{
    const struct tg_audit_report *report;

    (void)state;
    serve(&(struct mistakes){0}, 5);
    serve(&(struct mistakes){.line_lost = true}, 6);
    site_apply(site, 1);
    evening(&(struct mistakes){0});
    report = site_audit(site);
    assert_int_equal(report->charged_quota, served); /* its settle came through */
    doubts_only(report, "spool");
}

static void a_refund_twice(void **state)
{
    const struct tg_audit_report *report = day(&(struct mistakes){.refund_twice = true});

    (void)state;
    assert_false(report->clean);
    assert_true(has_line(report, "redis"));
    assert_false(has_line(report, "ledger"));
}

static void a_dropped_journal_entry(void **state)
{
    const struct mistakes mistakes = {.no_entry = true, .no_line = true};
    const struct tg_audit_report *report = day(&mistakes);

    (void)state;
    assert_false(report->clean);
    assert_true(has_line(report, "redis"));
    assert_int_equal(served - report->charged_quota, 10 + REQUESTS / 2);
}

static void an_entry_applied_twice(void **state)
{
    const struct tg_audit_report *report = day(&(struct mistakes){.applied_twice = true});

    (void)state;
    assert_false(report->clean);
    assert_true(has_line(report, "ledger"));
    assert_true(has_line(report, "redis"));
}

static void what_redis_lost_of_a_lapsed_hold_is_known(void **state)
{
    const struct tg_audit_report *report =
        day(&(struct mistakes){.dies = true, .earned_lost = true});

    (void)state;
    assert_true(report->clean);
    assert_int_equal(report->charged_quota, served);
}

/* A sweep that forgets what the stream had earned. */
static void earned_forgotten_by_a_sweep(void **state)
{
    const struct tg_audit_report *report =
        day(&(struct mistakes){.dies = true, .earned_forgotten = true});

    (void)state;
    assert_int_equal(served - report->charged_quota, 10 + REQUESTS / 2);
    assert_int_equal(report->counts.expired_empty, 1);
    assert_false(report->clean);
    assert_true(has_line(report, "sweep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_day_without_a_mistake_is_clean, morning),
        cmocka_unit_test_setup(a_dead_worker_is_clean_too, morning),
        cmocka_unit_test_setup(a_lost_settle_is_no_difference, morning),
        cmocka_unit_test_setup(a_skipped_settle, morning),
        cmocka_unit_test_setup(a_skipped_settle_is_seen_by_the_next_daemon, morning),
        cmocka_unit_test_setup(a_lost_spool_line, morning),
        cmocka_unit_test_setup(a_lost_last_line, morning),
        cmocka_unit_test_setup(a_refund_twice, morning),
        cmocka_unit_test_setup(a_dropped_journal_entry, morning),
        cmocka_unit_test_setup(an_entry_applied_twice, morning),
        cmocka_unit_test_setup(what_redis_lost_of_a_lapsed_hold_is_known, morning),
        cmocka_unit_test_setup(earned_forgotten_by_a_sweep, morning),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
