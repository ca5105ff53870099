/* Deposit, renewal and settlement of a request over a real Redis and a real MariaDB. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/settings.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/stages.h"
#include "tests/unit/folder.h"
#include "tests/unit/ledger/books.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { USER = 1, TOKEN = 7, DEPOSIT = 1500 };

static struct books books;
static struct tg_worker worker;
static struct tg_credential credential;
static struct tg_attempt attempt;
static struct test_folder folder;
static const struct tg_endpoint generate = {"chat_completions", "POST", "/v1/chat/completions",
                                            TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE};

/* A request as it stands before reserve: 3 USD in, 15 USD out per million tokens. */
static struct tg_request request(void)
{
    static struct tg_quote quote;
    struct tg_request req = {.worker = &worker,
                             .arena = tg_arena_new(),
                             .id = tg_id_new(),
                             .endpoint = &generate,
                             .credential = &credential,
                             .group = "default",
                             .model = "m",
                             .quotes = &quote,
                             .quote_count = 1,
                             .input_estimate = 100};

    quote = (struct tg_quote){
        .model = "m", .group = "default", .group_ratio = "1", .deposit_quota = DEPOSIT};
    snprintf(quote.price.rates.input, sizeof quote.price.rates.input, "3");
    snprintf(quote.price.rates.output, sizeof quote.price.rates.output, "15");
    tg_id_format(&req.id, req.id_text);
    tg_buf_init(&req.tail, 0);
    tg_buf_init(&req.bill_steps, 0);
    return req;
}

static void done(struct tg_request *req)
{
    tg_arena_free(req->arena);
    tg_buf_done(&req->tail);
    tg_buf_done(&req->bill_steps);
}

static void serve(struct tg_request *req, int64_t input, int64_t output)
{
    attempt = (struct tg_attempt){.number = 1, .channel_id = 4, .model = "m", .status = 200};
    req->attempts = &attempt;
    req->served = &attempt;
    req->attempt_count = 1;
    req->quote = &req->quotes[0];
    req->answer_status = 200;
    req->usage = (struct tg_usage){.source = TG_USAGE_UPSTREAM, .input = input, .output = output};
}

static void open_books(int64_t balance, int64_t remain)
{
    books_reset(&books);
    worker.ledger = books.ledger;
    books_user(&books, USER, balance);
    books_token(&books, TOKEN, USER, remain);
}

static int fresh(void **state)
{
    (void)state;
    open_books(10000, 5000);
    credential = (struct tg_credential){.token_id = TOKEN, .user_id = USER, .authver = 1,
                                        .funding = "0"};
    return 0;
}

static int64_t journal_len(void)
{
    return strtoll(test_redis_say(books.redis, "XLEN", "tg:{s01}:journal", NULL), NULL, 10);
}

static void a_deposit_is_taken_and_the_bill_replaces_it(void **state)
{
    struct tg_request req = request();

    (void)state;
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    assert_true(req.held);
    assert_int_equal(req.deposit_quota, DEPOSIT);
    assert_int_equal(books_quota(&books, USER), 10000 - DEPOSIT);
    serve(&req, 1000, 100); /* 1000 x 1.5 + 100 x 7.5 quota */
    tg_stage_settle(&req);
    assert_int_equal(req.bill_quota, 2250);
    assert_true(req.ended);
    assert_int_equal(books_quota(&books, USER), 10000 - 2250);
    /* Again changes nothing. */
    tg_stage_settle(&req);
    req.ended = false;
    tg_stage_settle(&req);
    assert_int_equal(books_quota(&books, USER), 10000 - 2250);
    assert_int_equal(journal_len(), 1);
    done(&req);
}

static void a_request_that_delivered_nothing_is_refunded(void **state)
{
    struct tg_request req = request();

    (void)state;
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    tg_fail(&req.error, TG_CLASS_NO_CHANNEL, "no_channel", "none");
    tg_stage_settle(&req);
    assert_int_equal(req.bill_quota, 0);
    assert_int_equal(books_quota(&books, USER), 10000);
    assert_int_equal(journal_len(), 1);
    done(&req);
}

static void what_is_free_takes_no_hold_and_is_still_recorded(void **state)
{
    struct tg_request req = request();

    (void)state;
    req.quotes[0].deposit_quota = 0;
    req.quotes[0].group_ratio = "0";
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    assert_false(req.held);
    assert_int_equal(tg_hold_wake_at_us(&req), INT64_MAX);
    serve(&req, 1000, 100);
    tg_stage_settle(&req);
    assert_int_equal(req.bill_quota, 0);
    assert_int_equal(journal_len(), 1);
    done(&req);
}

static void refusals_name_what_is_short(void **state)
{
    static const struct {
        int64_t balance, remain;
        enum tg_class class;
        const char *code;
    } cases[] = {
        {DEPOSIT - 1, 5000, TG_CLASS_FUNDS, "insufficient_quota"},
        {DEPOSIT, DEPOSIT, TG_OK, ""},
        {10000, DEPOSIT - 1, TG_CLASS_FUNDS, "token_quota_insufficient"},
        {10000, 0, TG_CLASS_AUTH, "token_exhausted"},
        {10000, -5, TG_CLASS_AUTH, "token_exhausted"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_request req = request();

        open_books(cases[i].balance, cases[i].remain);
        assert_int_equal(tg_stage_reserve(&req),
                         cases[i].class == TG_OK ? TG_NEXT : TG_ANSWER);
        assert_int_equal(req.error.class, cases[i].class);
        assert_string_equal(req.error.code, cases[i].code);
        assert_int_equal(req.held, cases[i].class == TG_OK);
        done(&req);
    }
}

/* The deposit grows with what a stream has earned, so that the same money is not promised twice. */
static void a_renewal_follows_what_was_earned(void **state)
{
    struct tg_request req = request();
    int64_t wake_us;

    (void)state;
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    wake_us = tg_hold_wake_at_us(&req);
    tg_hold_tick(&req, wake_us - 1, 10); /* too early: nothing happens */
    assert_int_equal(req.renew_at_us, wake_us);
    tg_hold_tick(&req, wake_us, 10); /* 100 x 1.5 + 10 x 7.5 = 225, below the deposit */
    assert_true(tg_hold_wake_at_us(&req) > wake_us);
    assert_int_equal(books_quota(&books, USER), 10000 - DEPOSIT);
    tg_hold_tick(&req, tg_hold_wake_at_us(&req), 400); /* 150 + 3000 */
    assert_int_equal(req.deposit_quota, 3150);
    assert_int_equal(books_quota(&books, USER), 10000 - 3150);
    serve(&req, 100, 400);
    tg_stage_settle(&req);
    assert_int_equal(books_quota(&books, USER), 10000 - 3150);
    done(&req);
}

/* Before an attempt that costs more: the difference is taken, or the attempt is not made. */
static void a_dearer_attempt_raises_the_deposit(void **state)
{
    static const struct {
        int64_t balance, remain, first, wanted;
        enum tg_class class;
        const char *code;
        int64_t left;
    } cases[] = {
        {10000, 5000, 1000, 1000, TG_OK, "", 9000},
        {10000, 5000, 1000, 400, TG_OK, "", 9000}, /* never made smaller */
        {10000, 5000, 1000, 3000, TG_OK, "", 7000},
        {3000, 5000, 1000, 3000, TG_OK, "", 0},
        {2999, 5000, 1000, 3000, TG_CLASS_FUNDS, "insufficient_quota", 1999},
        {10000, 2999, 1000, 3000, TG_CLASS_FUNDS, "token_quota_insufficient", 9000},
        {10000, 5000, 0, 3000, TG_OK, "", 7000}, /* what was free is so no more */
        {2999, 5000, 0, 3000, TG_CLASS_FUNDS, "insufficient_quota", 2999},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_request req = request();
        struct tg_error err = {0};

        open_books(cases[i].balance, cases[i].remain);
        req.quotes[0].deposit_quota = cases[i].first;
        assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
        assert_int_equal(tg_hold_raise(&req, cases[i].wanted, &err), cases[i].class);
        assert_string_equal(err.code, cases[i].code);
        assert_int_equal((err.flags & TG_ERROR_NO_RETRY) != 0, cases[i].class != TG_OK);
        assert_int_equal(books_quota(&books, USER), cases[i].left);
        assert_int_equal(req.held, cases[i].first > 0 || cases[i].class == TG_OK);
        tg_stage_settle(&req); /* nothing came: all of it goes back */
        assert_int_equal(books_quota(&books, USER), cases[i].balance);
        done(&req);
    }
}

static void a_bill_that_cannot_be_made_is_the_deposit(void **state)
{
    struct tg_request req = request();

    (void)state;
    req.quotes[0].price =
        (struct tg_price){.form = TG_PRICE_EXPRESSION, .expression = "1 / (p - 7)"};
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    serve(&req, 7, 0);
    tg_stage_settle(&req);
    assert_int_equal(req.bill_quota, DEPOSIT);
    assert_string_equal(tg_buf_text(&req.bill_steps), "{\"failed\":true,\"quota\":1500}");
    assert_int_equal(books_quota(&books, USER), 10000 - DEPOSIT);
    done(&req);
}

static void a_request_that_was_ended_elsewhere_stops_renewing(void **state)
{
    struct tg_request req = request();
    struct tg_entry entry;

    (void)state;
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    entry = books_charge(req.id, USER, TOKEN, 10);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    tg_hold_tick(&req, req.renew_at_us, 10);
    assert_true(tg_hold_wake_at_us(&req) > tg_now_us() + INT64_C(1000000000));
    assert_int_equal(books_quota(&books, USER), 10000 - 10);
    done(&req);
}

/* --- the spool --- */

static bool note_quota(void *context, const struct tg_entry *entry)
{
    const struct tg_request *req = ((const void **)context)[0];
    int64_t *quota = ((void **)context)[1];

    if (memcmp(&entry->id, &req->id, sizeof entry->id) == 0)
        *quota = entry->amount_quota;
    return true;
}

/* What the spool says that the request costs, -1 when it does not know it. */
static int64_t spooled_quota(const struct tg_request *req)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    struct tg_spool_seen seen;
    int64_t quota = -1;
    size_t count;

    assert_int_equal(tg_spool_list(folder.path, "node", arena, &files, &count), TG_OK);
    for (size_t i = 0; i < count; i++) {
        int64_t offset = 0;

        assert_int_equal(tg_spool_read(files[i].path, &offset, note_quota,
                                       (const void *[]){req, &quota}, &seen),
                         TG_OK);
    }
    tg_arena_free(arena);
    return quota;
}

static atomic_bool settled;

static void *settle(void *req)
{
    tg_stage_settle(req);
    atomic_store(&settled, true);
    return NULL;
}

/* Whoever is killed between the two must have left the bill on the disk. */
static void the_bill_is_in_the_spool_before_redis_is_told(void **state)
{
    struct tg_request req = request();
    pthread_t thread;

    (void)state;
    assert_int_equal(tg_stage_reserve(&req), TG_NEXT);
    serve(&req, 1000, 100);
    atomic_store(&settled, false);
    test_redis_pause(books.redis);
    assert_int_equal(pthread_create(&thread, NULL, settle, &req), 0);
    while (spooled_quota(&req) < 0 && !atomic_load(&settled))
        sched_yield();
    assert_false(atomic_load(&settled));
    test_redis_resume(books.redis);
    pthread_join(thread, NULL);
    assert_int_equal(spooled_quota(&req), 2250);
    done(&req);
}

/* A limit on the size of files stands for a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_stops_paid_requests_and_no_others(void **state)
{
    struct tg_request running = request(), paid = request(), free = request();

    (void)state;
    assert_int_equal(tg_stage_reserve(&running), TG_NEXT);
    serve(&running, 1000, 100);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(1);
    tg_stage_settle(&running); /* what runs is settled all the same */
    assert_int_equal(books_quota(&books, USER), 10000 - 2250);
    assert_int_equal(tg_stage_reserve(&paid), TG_ANSWER);
    assert_int_equal(paid.error.class, TG_CLASS_OVERLOAD);
    free.quotes[0].deposit_quota = 0;
    assert_int_equal(tg_stage_reserve(&free), TG_NEXT);
    limit_files(RLIM_INFINITY);
    while (!tg_spool_is_healthy(worker.spool))
        sched_yield();
    done(&running);
    done(&paid);
    done(&free);
}

static void without_redis_a_request_is_left_to_the_replay(void **state)
{
    struct tg_request req = request();
    int64_t later = tg_shared_counter(worker.shared, TG_COUNTER_SETTLE_LATER);

    (void)state;
    test_redis_kill(books.redis);
    assert_int_equal(tg_stage_reserve(&req), TG_ANSWER);
    assert_int_equal(req.error.class, TG_CLASS_OVERLOAD);
    tg_stage_settle(&req); /* the reserve may have run: its refund is in the spool */
    assert_true(req.ended);
    assert_int_equal(spooled_quota(&req), 0);
    assert_int_equal(tg_shared_counter(worker.shared, TG_COUNTER_SETTLE_LATER), later + 1);
    test_redis_again(books.redis);
    done(&req);
}

static struct tg_conf *load_conf(void)
{
    static const char text[] =
        "ledger: { reserve_timeout = \"5s\"; settle_timeout = \"5s\"; };\n";
    struct tg_conf *conf = NULL;
    const char *path = test_folder_write(&folder, "conf", text, 0600);

    if (tg_conf_load(path, NULL, 0, &conf, NULL) != TG_OK)
        abort();
    return conf;
}

static void start_worker(void)
{
    const struct tg_spool_conf spool = {
        .folder = folder.path, .node = "node", .worker = BOOKS_WORKER};
    struct tg_settings *settings;
    struct tg_error err;

    if (tg_settings_new(load_conf(), &settings, &err) != TG_OK ||
        tg_spool_open(&spool, &worker.spool, &err) != TG_OK)
        abort();
    atomic_store(&worker.settings, settings);
    worker.node = "node";
    worker.shared = tg_shared_new(1);
    worker.kv = books.kv;
    worker.main_db = books.db;
}

static void stop_worker(void)
{
    tg_spool_close(worker.spool);
    tg_settings_free(atomic_load(&worker.settings));
    test_folder_done(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_deposit_is_taken_and_the_bill_replaces_it, fresh),
        cmocka_unit_test_setup(a_request_that_delivered_nothing_is_refunded, fresh),
        cmocka_unit_test_setup(what_is_free_takes_no_hold_and_is_still_recorded, fresh),
        cmocka_unit_test_setup(refusals_name_what_is_short, fresh),
        cmocka_unit_test_setup(a_renewal_follows_what_was_earned, fresh),
        cmocka_unit_test_setup(a_dearer_attempt_raises_the_deposit, fresh),
        cmocka_unit_test_setup(a_bill_that_cannot_be_made_is_the_deposit, fresh),
        cmocka_unit_test_setup(a_request_that_was_ended_elsewhere_stops_renewing, fresh),
        cmocka_unit_test_setup(the_bill_is_in_the_spool_before_redis_is_told, fresh),
        cmocka_unit_test_setup(a_full_disk_stops_paid_requests_and_no_others, fresh),
        cmocka_unit_test_setup(without_redis_a_request_is_left_to_the_replay, fresh),
    };
    int failed;

    test_folder_init(&folder);
    books_start(&books);
    start_worker();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    stop_worker();
    books_stop(&books);
    return failed;
}
