/* The program itself under faults: killed in the middle, both stores restarted under load. What a
 * worker did (deposit, spool line, settle) is played by this test; every request must end in the
 * books exactly once, with its own amount. */
#include "tests/unit/unit.h"

#include "tests/unit/daemon/site.h"
#include "tests/unit/lib/server.h"

#include "common/base/clock.h"
#include "common/ledger/spool.h"
#include "common/store/pending.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { REQUESTS = 600, CALL_US = 300000, PATIENCE_US = 60000000 };

static struct site *site;
static struct test_server program; /* tollgate-ledger */
static struct tg_spool *spool;
static struct tg_entry truth[REQUESTS];

static void write_conf(void)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/tollgate.conf", program.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "node: { name = \"here\"; };\ndatabase: { main = \"%s\";",
            test_mariadb_dsn(site->books->server, "books"));
    fprintf(file, " log = \"%s\"; };\n", test_mariadb_dsn(site->books->server, "books_log"));
    fprintf(file, "redis: { address = \"%s\"; };\n", test_redis_address(site->redis));
    fprintf(file, "ledger: { spool_dir = \"%s\"; batch = 20; };\n", site->spool);
    assert_int_equal(fclose(file), 0);
}

static void start_program(void)
{
    char conf[128];
    char *const argv[] = {(char[]){"fcgi-app/tollgate-ledger"}, (char[]){"--conf"}, conf, NULL};

    snprintf(conf, sizeof conf, "%s/tollgate.conf", program.folder);
    test_server_spawn(&program, argv);
}

/* How often the program has said that it is ready. */
static int ready_lines(void)
{
    char path[128], line[2200];
    int count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/log", program.folder);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += strstr(line, "tollgate-ledger: ready") != NULL;
    if (file != NULL)
        fclose(file);
    return count;
}

static void wait_ready(int before)
{
    int64_t until_us = tg_now_us() + PATIENCE_US;

    while (ready_lines() <= before) {
        if (!test_server_is_running(&program) || tg_now_us() > until_us)
            test_server_give_up(&program, "it does not become ready");
        tg_clock_sleep_us(20000);
    }
}

static int start(void **state)
{
    struct tg_spool_conf conf = {.worker = 77, .node = "here"};

    (void)state;
    site = site_start();
    test_server_init(&program, "daemon");
    write_conf();
    conf.folder = site->spool;
    assert_int_equal(tg_spool_open(&conf, &spool, &site->err), TG_OK);
    start_program();
    wait_ready(0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_server_done(&program);
    tg_spool_close(spool);
    site_stop(site);
    return 0;
}

/* What a worker does for one request. Every fifth never settles: the spool must do. */
static void serve(int number)
{
    static const int64_t users[] = {1, 2, 65};
    struct tg_entry *entry = &truth[number];
    struct tg_funding wallet = {0}, chosen;
    struct tg_reserve reserve;
    enum tg_ledger_answer answer;

    *entry = *books_charge(users[number % 3], number % 2);
    reserve = (struct tg_reserve){.request_id = entry->id,
                                  .user_id = entry->user_id,
                                  .token_id = entry->token_id,
                                  .funding = &wallet,
                                  .funding_count = 1,
                                  .amount_quota = 1,
                                  .authver = 1};
    answer = tg_ledger_reserve(site->ledger, &reserve, tg_now_us() + CALL_US, &chosen,
                               &site->err);
    if (answer != TG_LEDGER_OK) { /* it may have run: the spool takes it back */
        entry->kind = TG_ENTRY_REFUND;
        entry->amount_quota = 0;
        entry->record.len = 0;
    }
    if (tg_spool_append(spool, entry, &site->err) != TG_OK)
        fail_msg("%s", site->err.message);
    if (answer == TG_LEDGER_OK && number % 5 != 0)
        (void)!tg_ledger_settle(site->ledger, entry, tg_now_us() + CALL_US, &site->err);
}

static void kill_program(void)
{
    int before = ready_lines();

    test_server_end(&program, SIGKILL);
    start_program();
    wait_ready(before);
}

static void fault(int number)
{
    switch (number) {
    case REQUESTS / 6:
    case REQUESTS / 6 + 7:
        kill_program();
        break;
    case REQUESTS / 3:
        test_redis_restart(site->redis);
        break;
    case REQUESTS / 2:
        test_mariadb_restart(site->books->server);
        break;
    case REQUESTS * 2 / 3:
        test_redis_kill(site->redis);
        test_redis_again(site->redis);
        kill_program();
        break;
    case REQUESTS * 5 / 6:
        test_redis_say(site->redis, "FLUSHALL", NULL);
        break;
    default:
        break;
    }
}

static size_t known_requests(void)
{
    static struct tg_id ids[REQUESTS];
    static bool known[REQUESTS];
    size_t count = 0;

    for (size_t i = 0; i < REQUESTS; i++)
        ids[i] = truth[i].id;
    if (tg_pending_known(site->books->main_db, ids, REQUESTS, known, &site->err) != TG_OK)
        return 0;
    for (size_t i = 0; i < REQUESTS; i++)
        count += known[i];
    return count;
}

static void until_known(void)
{
    int64_t until_us = tg_now_us() + PATIENCE_US;

    while (known_requests() < REQUESTS) {
        if (tg_now_us() > until_us)
            test_server_give_up(&program, "not every request came into the books");
        tg_clock_sleep_us(50000);
    }
}

static bool all_quiet(void)
{
    const struct tg_audit_report *report;

    site_connect(site); /* the server may be another one than it was */
    report = site_audit(site);
    return report->clean && report->counts.log_batches == 0 && report->journal_waiting == 0;
}

static void until_quiet(void)
{
    int64_t until_us = tg_now_us() + PATIENCE_US;

    while (!all_quiet()) {
        if (tg_now_us() > until_us)
            site_is_clean(site);
        tg_clock_sleep_us(50000);
    }
}

static void every_request_ends_once_whatever_is_killed(void **state)
{
    int64_t charged = 0;

    (void)state;
    for (int i = 0; i < REQUESTS; i++) {
        fault(i);
        serve(i);
        charged += truth[i].amount_quota;
    }
    until_known();
    until_quiet();
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_entry"
                                             " WHERE kind IN ('charge', 'refund')"), REQUESTS);
    assert_int_equal(books_main(site->books, "SELECT CAST(SUM(amount_quota) AS SIGNED)"
                                             " FROM ledger_entry WHERE kind <> 'credit'"),
                     charged);
    assert_int_equal(books_main(site->books, "SELECT CAST(3000 - SUM(quota) AS SIGNED)"
                                             " FROM users"), charged);
    assert_int_equal(books_log(site->books, "SELECT CAST(SUM(quota) AS SIGNED) FROM request_log"),
                     charged);
    assert_int_equal(books_log(site->books, "SELECT COUNT(*) FROM request_log"), REQUESTS);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM ledger_reject"), 0);
    assert_true(charged > REQUESTS / 4);
}

static void it_ends_cleanly_when_asked(void **state)
{
    int status;

    (void)state;
    assert_int_equal(kill(program.pid, SIGTERM), 0);
    assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
    program.pid = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void once_does_what_can_be_done_and_ends(void **state)
{
    char conf[128];
    char *const argv[] = {(char[]){"fcgi-app/tollgate-ledger"}, (char[]){"--conf"}, conf,
                          (char[]){"--once"}, NULL};
    const struct tg_entry *charge = books_charge(1, 5);
    int64_t quota = books_main(site->books, "SELECT quota FROM users WHERE id = 1");
    int status;

    (void)state;
    site_settle(site, charge);
    snprintf(conf, sizeof conf, "%s/tollgate.conf", program.folder);
    test_server_spawn(&program, argv);
    assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
    program.pid = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(books_main(site->books, "SELECT quota FROM users WHERE id = 1"), quota - 5);
    assert_int_equal(books_main(site->books, "SELECT COUNT(*) FROM log_batch"), 0);
    site_is_clean(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_ends_once_whatever_is_killed),
        cmocka_unit_test(it_ends_cleanly_when_asked),
        cmocka_unit_test(once_does_what_can_be_done_and_ends),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
