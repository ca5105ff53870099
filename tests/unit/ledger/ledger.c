/* The ledger between Redis and MariaDB: loading, epochs, rebuilds, stores that are away. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/redis/kv_link.h"
#include "tests/unit/ledger/books.h"

enum { USER = 1, TOKEN = 2, OTHER = 65, SHORT_US = 60000 };

static struct books books;

static void usual_accounts(void)
{
    books_user(&books, USER, 1000);
    books_token(&books, TOKEN, USER, 500);
}

static struct tg_extend extend_of(struct tg_id id, int64_t amount, int64_t earned)
{
    return (struct tg_extend){.request_id = id,
                              .user_id = USER,
                              .token_id = TOKEN,
                              .amount_quota = amount,
                              .earned_quota = earned};
}

/* ---- a request's life */

static void a_request_moves_money_once(void **state)
{
    struct tg_id id;
    struct tg_extend extend;
    struct tg_entry entry;
    struct tg_live_account account;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, &id), TG_LEDGER_OK);
    extend = extend_of(id, 150, 20);
    assert_int_equal(tg_ledger_extend(books.ledger, &extend, tg_now_us() + BOOKS_SOON_US, NULL),
                     TG_LEDGER_OK);
    assert_int_equal(tg_ledger_look(books.ledger, USER, tg_now_us() + BOOKS_SOON_US, &account,
                                    NULL),
                     TG_LEDGER_OK);
    assert_int_equal(account.quota, 850);
    assert_int_equal(account.held_quota, 150);
    assert_int_equal(account.authver, 1);
    entry = books_charge(id, USER, TOKEN, 42);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_ENDED);
    assert_int_equal(tg_ledger_extend(books.ledger, &extend, tg_now_us() + BOOKS_SOON_US, NULL),
                     TG_LEDGER_ENDED);
    assert_int_equal(books_quota(&books, USER), 958);
}

static void each_refusal_has_its_answer(void **state)
{
    struct tg_id id;
    struct tg_entry entry;
    struct tg_funding wallet = {0}, chosen;
    struct tg_reserve again = {.user_id = USER,
                               .token_id = TOKEN,
                               .funding = &wallet,
                               .funding_count = 1,
                               .amount_quota = 1,
                               .authver = 1};

    (void)state;
    usual_accounts();
    books_user(&books, OTHER, 5);
    books_token(&books, 3, OTHER, 500);
    assert_int_equal(books_reserve(&books, 129, TOKEN, 1, NULL), TG_LEDGER_UNKNOWN_ACCOUNT);
    assert_string_equal(books.err.code, "ledger_account");
    assert_int_equal(books_reserve(&books, USER, 99, 1, NULL), TG_LEDGER_UNKNOWN_ACCOUNT);
    assert_int_equal(books_reserve(&books, OTHER, TOKEN, 1, NULL), TG_LEDGER_UNKNOWN_ACCOUNT);
    assert_int_equal(books_reserve(&books, OTHER, 3, 6, NULL), TG_LEDGER_USER_SHORT);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 501, NULL), TG_LEDGER_TOKEN_SHORT);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 5, &id), TG_LEDGER_OK);
    again.request_id = id;
    assert_int_equal(tg_ledger_reserve(books.ledger, &again, tg_now_us() + BOOKS_SOON_US, &chosen,
                                       NULL),
                     TG_LEDGER_DUPLICATE);
    again.authver = 0;
    again.request_id = tg_id_new();
    assert_int_equal(tg_ledger_reserve(books.ledger, &again, tg_now_us() + BOOKS_SOON_US, &chosen,
                                       NULL),
                     TG_LEDGER_STALE);
    entry = books_charge(id, USER, TOKEN, 5);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    again.request_id = id;
    assert_int_equal(tg_ledger_reserve(books.ledger, &again, tg_now_us() + BOOKS_SOON_US, &chosen,
                                       NULL),
                     TG_LEDGER_ENDED);
}

static void a_revoked_credential_is_stale_at_once(void **state)
{
    struct tg_entry raise;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 1, NULL), TG_LEDGER_OK);
    raise = books_charge(tg_id_new(), USER, 0, 0);
    raise.kind = TG_ENTRY_ADJUST;
    raise.authver = 2;
    assert_int_equal(books_settle(&books, &raise), TG_LEDGER_OK);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 1, NULL), TG_LEDGER_STALE);
}

static void new_money_is_there_for_the_next_request(void **state)
{
    struct tg_entry credit;

    (void)state;
    books_user(&books, USER, 0);
    books_token(&books, TOKEN, USER, 500);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, NULL), TG_LEDGER_USER_SHORT);
    credit = books_charge(tg_id_new(), USER, 0, -10);
    credit.kind = TG_ENTRY_CREDIT;
    assert_int_equal(books_settle(&books, &credit), TG_LEDGER_OK);
    assert_int_equal(books_settle(&books, &credit), TG_LEDGER_ENDED);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, NULL), TG_LEDGER_OK);
    credit.id = tg_id_new();
    credit.amount_quota = INT64_C(-9000000000000000);
    assert_int_equal(books_settle(&books, &credit), TG_LEDGER_OK);
    credit.id = tg_id_new();
    assert_int_equal(books_settle(&books, &credit), TG_LEDGER_UNAVAILABLE);
    assert_string_equal(books.err.code, "ledger_bounds");
}

static void a_plan_pays_and_is_found_again(void **state)
{
    struct tg_funding list[] = {{.plan_id = 7}, {.plan_id = 0}}, chosen;
    struct tg_reserve reserve = {.request_id = tg_id_new(),
                                 .user_id = USER,
                                 .token_id = TOKEN,
                                 .funding = list,
                                 .funding_count = 2,
                                 .amount_quota = 60,
                                 .authver = 1};
    struct tg_entry refund = books_charge(reserve.request_id, USER, TOKEN, 0);

    (void)state;
    usual_accounts();
    books_sql(&books, "INSERT INTO subscriptions (id, user_id, plan_id, remain_quota, "
                      "period_number) VALUES (7, 1, 1, 100, 3)");
    assert_int_equal(tg_ledger_reserve(books.ledger, &reserve, tg_now_us() + BOOKS_SOON_US, &chosen,
                                       &books.err),
                     TG_LEDGER_OK);
    assert_int_equal(chosen.plan_id, 7);
    assert_int_equal(chosen.period, 3);
    assert_string_equal(test_redis_say(books.redis, "HGET", "tg:{s01}:sub:7", "remain", NULL),
                        "40");
    refund.kind = TG_ENTRY_REFUND; /* by one who never saw the answer */
    assert_int_equal(books_settle(&books, &refund), TG_LEDGER_OK);
    assert_string_equal(test_redis_say(books.redis, "HGET", "tg:{s01}:sub:7", "remain", NULL),
                        "100");
    assert_int_equal(books_quota(&books, USER), 1000);
}

/* ---- many at once */

enum { THREADS = 20, EACH = 5 };

static _Atomic int taken, refused;

static void *reserve_some(void *context)
{
    struct tg_funding wallet = {0}, chosen;

    for (int i = 0; i < EACH; i++) {
        struct tg_reserve reserve = {.request_id = tg_id_new(),
                                     .user_id = USER,
                                     .token_id = TOKEN,
                                     .funding = &wallet,
                                     .funding_count = 1,
                                     .amount_quota = 10,
                                     .authver = 1};
        enum tg_ledger_answer answer = tg_ledger_reserve(
            books.ledger, &reserve, tg_now_us() + BOOKS_SOON_US, &chosen, context);

        atomic_fetch_add(&taken, answer == TG_LEDGER_OK);
        atomic_fetch_add(&refused, answer == TG_LEDGER_USER_SHORT);
    }
    return NULL;
}

static void a_hundred_at_once_cannot_share_money_for_ten(void **state)
{
    pthread_t threads[THREADS];
    struct tg_error errors[THREADS];

    (void)state;
    books_user(&books, USER, 109); /* nobody has loaded it: they race for that as well */
    books_token(&books, TOKEN, USER, 500);
    taken = refused = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_some, &errors[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(taken, 10);
    assert_int_equal(refused, THREADS * EACH - 10);
    assert_int_equal(books_quota(&books, USER), 9);
}

/* ---- epochs */

static void *finish_when_asked_again(void *context)
{
    int64_t calls = 0, now = 0, until_us = tg_now_us() + BOOKS_SOON_US;
    const char *text;

    (void)context;
    do { /* the waiting call has tried at least twice */
        text = strstr(test_redis_say(books.redis, "INFO", "commandstats", NULL), "cmdstat_evalsha");
        if (text != NULL && sscanf(text, "cmdstat_evalsha:calls=%ld", &now) == 1 && calls == 0)
            calls = now;
    } while (now < calls + 2 && tg_now_us() < until_us);
    books_finish(&books);
    return NULL;
}

static void a_call_waits_for_the_end_of_a_rebuild(void **state)
{
    pthread_t thread;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, NULL), TG_LEDGER_OK);
    books_begin(&books);
    assert_int_equal(pthread_create(&thread, NULL, finish_when_asked_again, NULL), 0);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 10, NULL), TG_LEDGER_OK);
    pthread_join(thread, NULL);
    assert_int_equal(books_quota(&books, USER), 980);
}

static void a_rebuild_that_does_not_end_is_said(void **state)
{
    struct tg_entry entry = books_charge(tg_id_new(), USER, TOKEN, 1);

    (void)state;
    usual_accounts();
    assert_int_equal(books_quota(&books, USER), 1000);
    books_begin(&books);
    assert_int_equal(tg_ledger_settle(books.ledger, &entry, tg_now_us() + SHORT_US, &books.err),
                     TG_LEDGER_UNAVAILABLE);
    assert_string_equal(books.err.code, "ledger_rebuilding");
    books_finish(&books);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
}

static void after_a_restart_nothing_moves_before_the_rebuild(void **state)
{
    struct tg_id id;
    struct tg_entry entry;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, &id), TG_LEDGER_OK);
    entry = books_charge(id, USER, TOKEN, 42);
    test_redis_restart(books.redis); /* the same data, another run id */
    assert_int_equal(tg_ledger_settle(books.ledger, &entry, tg_now_us() + SHORT_US, &books.err),
                     TG_LEDGER_UNAVAILABLE);
    assert_string_equal(test_redis_say(books.redis, "HGET", "tg:{s01}:user:1", "quota", NULL),
                        "900");
    books_rebuild(&books);
    assert_int_equal(books_quota(&books, USER), 900); /* loaded again: 1000 less the hold */
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    books_apply(&books);
    books_rebuild(&books);
    assert_int_equal(books_quota(&books, USER), 958);
}

static void an_emptied_redis_comes_back_from_mysql(void **state)
{
    struct tg_id id;
    struct tg_entry entry;
    struct tg_extend extend;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, &id), TG_LEDGER_OK);
    test_redis_say(books.redis, "FLUSHALL", NULL);
    extend = extend_of(id, 100, 5);
    assert_int_equal(tg_ledger_extend(books.ledger, &extend, tg_now_us() + SHORT_US, &books.err),
                     TG_LEDGER_UNAVAILABLE);
    books_rebuild(&books);
    assert_int_equal(books_quota(&books, USER), 1000);
    assert_int_equal(tg_ledger_extend(books.ledger, &extend, tg_now_us() + BOOKS_SOON_US, NULL),
                     TG_LEDGER_OK);
    assert_int_equal(books_quota(&books, USER), 900);
    entry = books_charge(id, USER, TOKEN, 42);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_int_equal(books_quota(&books, USER), 958);
}

static void a_late_answer_measures_the_clock_again(void **state)
{
    struct tg_kv *kv[4];

    (void)state;
    usual_accounts();
    for (size_t i = 0; i < TG_COUNT_OF(kv); i++) {
        assert_int_equal(tg_kv_acquire(books.kv, tg_now_us() + BOOKS_SOON_US, &kv[i], NULL),
                         TG_OK);
        kv[i]->clock_offset_us -= INT64_C(3600000000); /* the server's clock went ahead */
    }
    for (size_t i = 0; i < TG_COUNT_OF(kv); i++)
        tg_kv_release(kv[i]);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, NULL), TG_LEDGER_OK);
    assert_int_equal(books_quota(&books, USER), 900);
}

/* ---- stores that are away */

static void a_stalled_redis_costs_no_more_than_the_limit(void **state)
{
    struct tg_id id;
    struct tg_entry entry;
    int64_t start_us;

    (void)state;
    usual_accounts();
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, &id), TG_LEDGER_OK);
    entry = books_charge(id, USER, TOKEN, 42);
    test_redis_pause(books.redis);
    start_us = tg_now_us();
    assert_int_equal(tg_ledger_settle(books.ledger, &entry, start_us + SHORT_US, &books.err),
                     TG_LEDGER_UNAVAILABLE);
    assert_int_equal(books.err.class, TG_CLASS_DOWN);
    assert_true(tg_ledger_is_up(books.ledger)); /* a short stall is no outage */
    test_redis_resume(books.redis);
    assert_in_range(books_settle(&books, &entry), TG_LEDGER_OK, TG_LEDGER_ENDED);
    assert_int_equal(books_quota(&books, USER), 958); /* once, whether or not the first ran */
}

static void time_without_success_tells_that_redis_is_away(void **state)
{
    int64_t until_us = tg_now_us() + 2 * BOOKS_SOON_US;
    struct tg_entry entry = books_charge(tg_id_new(), USER, TOKEN, 1);

    (void)state;
    usual_accounts();
    assert_int_equal(books_quota(&books, USER), 1000);
    test_redis_kill(books.redis);
    for (int i = 0; i < 50; i++) /* failures at once, however many, do not count */
        assert_int_equal(tg_ledger_settle(books.ledger, &entry, tg_now_us(), &books.err),
                         TG_LEDGER_UNAVAILABLE);
    assert_true(tg_ledger_is_up(books.ledger));
    while (tg_ledger_is_up(books.ledger)) {
        assert_true(tg_now_us() < until_us);
        tg_clock_sleep_us(20000);
    }
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_UNAVAILABLE); /* nobody waits */
    assert_true(tg_now_us() < until_us);
    test_redis_again(books.redis);
    books_rebuild(&books);
    /* The first call that comes, with the epoch from before the outage. */
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_true(tg_ledger_is_up(books.ledger));
    assert_int_equal(books_quota(&books, USER), 999);
}

static void without_mysql_live_accounts_go_on(void **state)
{
    struct tg_id id;
    struct tg_entry entry;

    (void)state;
    usual_accounts();
    books_user(&books, OTHER, 5);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, &id), TG_LEDGER_OK);
    test_mariadb_kill(books.mariadb);
    entry = books_charge(id, USER, TOKEN, 42);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
    assert_int_equal(books_reserve(&books, USER, TOKEN, 100, NULL), TG_LEDGER_OK);
    entry = books_charge(tg_id_new(), OTHER, 0, 1);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_UNAVAILABLE); /* never loaded */
    assert_string_equal(books.err.code, "db_down");
    assert_true(tg_ledger_is_up(books.ledger));
    test_mariadb_again(books.mariadb);
    assert_int_equal(books_settle(&books, &entry), TG_LEDGER_OK);
}

static int set_up(void **state)
{
    (void)state;
    books_reset(&books);
    return 0;
}

static int start(void **state)
{
    (void)state;
    books_start(&books);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    books_stop(&books);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_request_moves_money_once),
        CASE(each_refusal_has_its_answer),
        CASE(a_revoked_credential_is_stale_at_once),
        CASE(new_money_is_there_for_the_next_request),
        CASE(a_plan_pays_and_is_found_again),
        CASE(a_hundred_at_once_cannot_share_money_for_ten),
        CASE(a_call_waits_for_the_end_of_a_rebuild),
        CASE(a_rebuild_that_does_not_end_is_said),
        CASE(after_a_restart_nothing_moves_before_the_rebuild),
        CASE(an_emptied_redis_comes_back_from_mysql),
        CASE(a_late_answer_measures_the_clock_again),
        CASE(a_stalled_redis_costs_no_more_than_the_limit),
        CASE(time_without_success_tells_that_redis_is_away),
        CASE(without_mysql_live_accounts_go_on),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
