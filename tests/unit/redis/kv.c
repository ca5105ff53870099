/* Connections to a real Redis: replies, time limits, restarts, the pool, the listener. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/redis/kv_link.h"
#include "tests/unit/lib/redis.h"

enum { SOON_US = 5000000, SHORT_US = 50000 };

static struct test_redis *server;

#define SPAN(text) ((struct tg_span){(text), sizeof(text) - 1})

static struct tg_kv *take(struct tg_kv_pool *pool)
{
    struct tg_kv *kv;

    assert_int_equal(tg_kv_acquire(pool, tg_now_us() + SOON_US, &kv, NULL), TG_OK);
    return kv;
}

static enum tg_class say(struct tg_kv *kv, const struct tg_span *args, size_t count,
                         int64_t limit_us, const struct tg_kv_reply **ret)
{
    struct tg_kv_call call = {
        .args = args, .count = count, .deadline_at_us = tg_now_us() + limit_us};

    return tg_kv_command(kv, &call, ret, NULL);
}

static void replies_keep_their_types(void **state)
{
    struct tg_kv_pool *pool = *state;
    struct tg_kv *kv = take(pool);
    const struct tg_kv_reply *reply;
    int64_t number;
    const struct tg_span set[] = {SPAN("SET"), SPAN("bytes"), SPAN("a b\0c\r\n")};
    const struct tg_span get[] = {SPAN("GET"), SPAN("bytes")};
    const struct tg_span incr[] = {SPAN("INCRBY"), SPAN("n"), SPAN("9000000000000000000")};
    const struct tg_span many[] = {SPAN("MGET"), SPAN("n"), SPAN("absent"), SPAN("bytes")};
    const struct tg_span wrong[] = {SPAN("LPUSH"), SPAN("n"), SPAN("x")};

    assert_int_equal(say(kv, set, 3, SOON_US, &reply), TG_OK);
    assert_int_equal(tg_kv_type(reply), TG_KV_STATUS);
    assert_int_equal(say(kv, get, 2, SOON_US, &reply), TG_OK);
    assert_int_equal(tg_kv_type(reply), TG_KV_STRING);
    assert_int_equal(tg_kv_string(reply).len, 7);
    assert_memory_equal(tg_kv_string(reply).ptr, "a b\0c\r\n", 7);
    assert_false(tg_kv_int(reply, &number));
    assert_int_equal(say(kv, incr, 3, SOON_US, &reply), TG_OK);
    assert_true(tg_kv_int(reply, &number));
    assert_true(number == INT64_C(9000000000000000000));
    assert_int_equal(say(kv, many, 4, SOON_US, &reply), TG_OK);
    assert_int_equal(tg_kv_len(reply), 3);
    assert_true(tg_kv_int(tg_kv_at(reply, 0), &number));
    assert_int_equal(tg_kv_type(tg_kv_at(reply, 1)), TG_KV_NIL);
    assert_int_equal(tg_kv_len(tg_kv_at(reply, 1)), 0);
    assert_int_equal(say(kv, wrong, 3, SOON_US, &reply), TG_CLASS_INTERNAL);
    assert_string_equal(tg_kv_error(kv)->code, "redis_error");
    assert_non_null(strstr(tg_kv_error(kv)->message, "WRONGTYPE"));
    assert_int_equal(say(kv, get, 2, SOON_US, &reply), TG_OK); /* still of use */
    tg_kv_release(kv);
}

static void run_id_and_clock_are_the_servers(void **state)
{
    struct tg_kv *kv = take(*state);
    int64_t off_ms = tg_kv_server_ms(kv) - tg_unix_us() / 1000;
    char line[64];

    snprintf(line, sizeof line, "run_id:%s", tg_kv_run_id(kv));
    assert_non_null(strstr(test_redis_say(server, "INFO", "server", NULL), line));
    assert_in_range(off_ms + 1000, 0, 2000); /* one machine, one clock */
    assert_int_equal(tg_kv_sync_clock(kv, tg_now_us() + SOON_US, NULL), TG_OK);
    tg_kv_release(kv);
}

static void a_late_reply_answers_nobody(void **state)
{
    struct tg_kv_pool *pool = *state;
    struct tg_kv *kv = take(pool);
    const struct tg_kv_reply *reply;
    const struct tg_span slow[] = {SPAN("ECHO"), SPAN("old")}, next[] = {SPAN("ECHO"), SPAN("new")};

    test_redis_pause(server);
    assert_int_equal(say(kv, slow, 2, SHORT_US, &reply), TG_CLASS_DOWN);
    assert_string_equal(tg_kv_error(kv)->code, "redis_down");
    test_redis_resume(server);
    assert_int_equal(say(kv, next, 2, SOON_US, &reply), TG_CLASS_DOWN); /* dead for good */
    tg_kv_release(kv);
    kv = take(pool);
    assert_int_equal(say(kv, next, 2, SOON_US, &reply), TG_OK);
    assert_memory_equal(tg_kv_string(reply).ptr, "new", 3);
    tg_kv_release(kv);
}

static void no_time_left_sends_nothing(void **state)
{
    struct tg_kv *kv = take(*state);
    const struct tg_kv_reply *reply;
    const struct tg_span incr[] = {SPAN("INCR"), SPAN("never")};

    assert_int_equal(say(kv, incr, 2, 0, &reply), TG_CLASS_DOWN);
    assert_string_equal(test_redis_say(server, "GET", "never", NULL), "(nil)");
    assert_int_equal(say(kv, incr, 2, SOON_US, &reply), TG_OK); /* still of use */
    tg_kv_release(kv);
}

static void an_unknown_script_is_sent_whole(void **state)
{
    static const char text[] = "return {KEYS[1], ARGV[1]}";
    struct tg_kv_script known = {.name = "test", .text = text, .len = sizeof text - 1};
    struct tg_kv *kv = take(*state);
    const struct tg_kv_reply *reply;
    const struct tg_span args[] = {SPAN("{s01}k"), SPAN("v")};
    struct tg_kv_call call = {
        .tag = "{s01}", .args = args, .count = 2, .deadline_at_us = tg_now_us() + SOON_US};

    snprintf(known.sha1, sizeof known.sha1, "%s",
             test_redis_say(server, "SCRIPT", "LOAD", text, NULL));
    test_redis_say(server, "SCRIPT", "FLUSH", NULL);
    for (int i = 0; i < 2; i++) { /* NOSCRIPT first, known then */
        assert_int_equal(tg_kv_run(kv, &known, &call, 1, &reply), TG_OK);
        assert_int_equal(tg_kv_len(reply), 2);
        assert_memory_equal(tg_kv_string(tg_kv_at(reply, 0)).ptr, "{s01}k", 6);
    }
    assert_string_equal(test_redis_say(server, "SCRIPT", "EXISTS", known.sha1, NULL), "1");
    tg_kv_release(kv);
}

static void out_of_memory_has_a_class_of_its_own(void **state)
{
    struct tg_kv *kv = take(*state);
    const struct tg_kv_reply *reply;
    const struct tg_span set[] = {SPAN("SET"), SPAN("k"), SPAN("v")};

    test_redis_say(server, "CONFIG", "SET", "maxmemory", "1", NULL);
    assert_int_equal(say(kv, set, 3, SOON_US, &reply), TG_CLASS_OVERLOAD);
    assert_string_equal(tg_kv_error(kv)->code, "redis_memory");
    test_redis_say(server, "CONFIG", "SET", "maxmemory", "0", NULL);
    assert_int_equal(say(kv, set, 3, SOON_US, &reply), TG_OK);
    tg_kv_release(kv);
}

static void a_restart_is_a_new_server(void **state)
{
    struct tg_kv_pool *pool = *state;
    struct tg_kv *kv = take(pool), *second = take(pool);
    const struct tg_kv_reply *reply;
    const struct tg_span ping[] = {SPAN("PING")};
    char run_id[41];

    snprintf(run_id, sizeof run_id, "%s", tg_kv_run_id(kv));
    tg_kv_release(second);
    tg_kv_release(kv);
    test_redis_restart(server);
    kv = take(pool); /* what was idle is sorted out before it is lent */
    assert_string_not_equal(tg_kv_run_id(kv), run_id);
    assert_int_equal(say(kv, ping, 1, SOON_US, &reply), TG_OK);
    tg_kv_release(kv);
}

static void a_lent_connection_does_not_survive_a_kill(void **state)
{
    struct tg_kv_pool *pool = *state;
    struct tg_kv *kv = take(pool), *none = NULL;
    const struct tg_kv_reply *reply;
    const struct tg_span ping[] = {SPAN("PING")};
    struct tg_error err;
    int64_t until_us = tg_now_us() + SOON_US;

    test_redis_kill(server);
    assert_int_equal(say(kv, ping, 1, SOON_US, &reply), TG_CLASS_DOWN);
    tg_kv_release(kv);
    assert_int_equal(tg_kv_acquire(pool, tg_now_us() + SOON_US, &none, &err), TG_CLASS_DOWN);
    assert_string_equal(err.code, "redis_down");
    test_redis_again(server);
    while (tg_kv_acquire(pool, tg_now_us() + SOON_US, &kv, &err) != TG_OK) {
        assert_true(tg_now_us() < until_us); /* a pause lies between two attempts */
        tg_clock_sleep_us(1000);
    }
    assert_int_equal(say(kv, ping, 1, SOON_US, &reply), TG_OK);
    tg_kv_release(kv);
}

static void an_exhausted_pool_waits_no_longer_than_asked(void **state)
{
    struct tg_kv_pool *pool = test_redis_pool(server, 1);
    struct tg_kv *only = take(pool), *none = NULL;
    struct tg_error err;
    int64_t start_us = tg_now_us();

    (void)state;
    assert_int_equal(tg_kv_acquire(pool, start_us + SHORT_US, &none, &err), TG_CLASS_DOWN);
    assert_true(tg_now_us() >= start_us + SHORT_US);
    assert_non_null(strstr(err.message, "free"));
    tg_kv_release(only);
    assert_int_equal(tg_kv_acquire(pool, tg_now_us() + SOON_US, &only, &err), TG_OK);
    tg_kv_release(only);
    tg_kv_pool_free(pool);
}

static void *wait_for_one(void *context)
{
    struct tg_kv *kv = NULL;

    if (tg_kv_acquire(context, tg_now_us() + SOON_US, &kv, NULL) != TG_OK)
        return NULL;
    tg_kv_release(kv);
    return context;
}

static void a_waiter_gets_what_is_given_back(void **state)
{
    struct tg_kv_pool *pool = test_redis_pool(server, 1);
    struct tg_kv *only = take(pool);
    pthread_t threads[4];
    void *got;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_one, pool), 0);
    tg_kv_release(only);
    for (size_t i = 0; i < TG_COUNT_OF(threads); i++) {
        pthread_join(threads[i], &got);
        assert_ptr_equal(got, pool);
    }
    tg_kv_pool_free(pool);
}

/* A server that accepts and never says a word. */
struct mute {
    char address[96];
    int socket;
};

static void mute_start(struct mute *mute)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int name = snprintf(mute->address, sizeof mute->address, "unix:/tmp/tollgate-mute.%d",
                        (int)getpid());

    memcpy(place.sun_path, mute->address + 5, (size_t)name - 4);
    mute->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(mute->socket, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(listen(mute->socket, 8), 0);
}

struct attempt {
    struct tg_kv_pool *pool;
    _Atomic int *failed_at_once;
    int64_t deadline_at_us;
};

static void *try_once(void *context)
{
    struct attempt *attempt = context;
    struct tg_kv *kv;

    if (tg_kv_acquire(attempt->pool, attempt->deadline_at_us, &kv, NULL) != TG_OK &&
        tg_now_us() < attempt->deadline_at_us)
        atomic_fetch_add(attempt->failed_at_once, 1);
    return NULL;
}

static void one_thread_connects_while_the_others_fail_at_once(void **state)
{
    struct mute mute;
    struct tg_kv_pool *pool;
    struct tg_kv *kv;
    struct tg_kv_conf conf = {.address = mute.address, .connections = 8};
    _Atomic int failed_at_once = 0;
    pthread_t threads[8];
    struct attempt attempt = {.failed_at_once = &failed_at_once};

    (void)state;
    mute_start(&mute);
    assert_int_equal(tg_kv_pool_new(&conf, &pool, NULL), TG_OK);
    assert_int_equal(tg_kv_acquire(pool, tg_now_us() + SHORT_US, &kv, NULL), TG_CLASS_DOWN);
    attempt.pool = pool;
    attempt.deadline_at_us = tg_now_us() + 20 * SHORT_US;
    for (size_t i = 0; i < TG_COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, try_once, &attempt), 0);
    for (size_t i = 0; i < TG_COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    assert_in_range(failed_at_once, TG_COUNT_OF(threads) - 1, TG_COUNT_OF(threads));
    tg_kv_pool_free(pool);
    close(mute.socket);
    unlink(mute.address + 5);
}

static void addresses_are_checked(void **state)
{
    static const struct {
        const char *address;
        bool good;
    } cases[] = {{"unix:/run/redis.sock", true}, {"tcp:127.0.0.1:6379", true},
                 {"tcp:[::1]:6379", true},       {"tcp:host", false},
                 {"tcp::6379", false},           {"tcp:host:0", false},
                 {"tcp:host:1x", false},
                 {"tcp:host:65536", false},      {"unix:", false},
                 {"/run/redis.sock", false},     {"", false}};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if ((tg_kv_address_check(cases[i].address, NULL) == TG_OK) != cases[i].good)
            fail_msg("%s", cases[i].address);
}

static void a_password_is_used(void **state)
{
    struct tg_kv_conf conf = {.address = test_redis_address(server), .connections = 1};
    struct tg_kv_pool *pool;
    struct tg_kv *kv;
    struct tg_error err;
    static const struct {
        const char *user, *password;
        bool good;
    } cases[] = {{"gate", "open sesame", true}, {"gate", "wrong", false}, {"", "wrong", false}};

    (void)state;
    test_redis_say(server, "ACL", "SETUSER", "gate", "on", ">open sesame", "~*", "+@all", NULL);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        conf.user = cases[i].user;
        conf.password = cases[i].password;
        assert_int_equal(tg_kv_pool_new(&conf, &pool, NULL), TG_OK);
        if (cases[i].good) {
            assert_int_equal(tg_kv_acquire(pool, tg_now_us() + SOON_US, &kv, &err), TG_OK);
            tg_kv_release(kv);
        } else {
            assert_int_not_equal(tg_kv_acquire(pool, tg_now_us() + SOON_US, &kv, &err), TG_OK);
            assert_null(strstr(err.message, cases[i].password));
        }
        tg_kv_pool_free(pool);
    }
    test_redis_say(server, "ACL", "DELUSER", "gate", NULL);
}

static void the_listener_hears_and_comes_back(void **state)
{
    struct tg_kv_listener *listener;
    char message[32] = "";
    bool got = true;
    int64_t until_us = tg_now_us() + SOON_US;

    assert_int_equal(tg_kv_listen(*state, "tg:changed", &listener, NULL), TG_OK);
    assert_int_equal(tg_kv_listener_wait(listener, 1000, &got, message, sizeof message), TG_OK);
    assert_false(got);
    assert_string_equal(test_redis_say(server, "PUBLISH", "tg:changed", "channels", NULL), "1");
    assert_int_equal(tg_kv_listener_wait(listener, SOON_US, &got, message, sizeof message), TG_OK);
    assert_true(got);
    assert_string_equal(message, "channels");
    test_redis_restart(server);
    assert_int_equal(tg_kv_listener_wait(listener, SOON_US, &got, message, sizeof message),
                     TG_CLASS_DOWN); /* said once: something may have been missed */
    while (tg_kv_listener_wait(listener, SHORT_US, &got, message, sizeof message) != TG_OK)
        assert_true(tg_now_us() < until_us);
    test_redis_say(server, "PUBLISH", "tg:changed", "prices", NULL);
    assert_int_equal(tg_kv_listener_wait(listener, SOON_US, &got, message, sizeof message), TG_OK);
    assert_string_equal(message, "prices");
    tg_kv_listener_free(listener);
}

static int set_up(void **state)
{
    *state = test_redis_pool(server, 4);
    return 0;
}

static int tear_down(void **state)
{
    tg_kv_pool_free(*state);
    return 0;
}

static int start(void **state)
{
    (void)state;
    server = test_redis_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_redis_stop(server);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(replies_keep_their_types),
        CASE(run_id_and_clock_are_the_servers),
        CASE(a_late_reply_answers_nobody),
        CASE(no_time_left_sends_nothing),
        CASE(an_unknown_script_is_sent_whole),
        CASE(out_of_memory_has_a_class_of_its_own),
        CASE(a_restart_is_a_new_server),
        CASE(a_lent_connection_does_not_survive_a_kill),
        CASE(an_exhausted_pool_waits_no_longer_than_asked),
        CASE(a_waiter_gets_what_is_given_back),
        CASE(one_thread_connects_while_the_others_fail_at_once),
        CASE(addresses_are_checked),
        CASE(a_password_is_used),
        CASE(the_listener_hears_and_comes_back),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
