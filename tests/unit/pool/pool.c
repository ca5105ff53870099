/* The thread pool: many clients, stalled peers, growth, shrinking, drain. Also run under
 * ThreadSanitizer (--enable-sanitizers=thread). */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "fcgi-app/pool/pool.h"
#include "tests/unit/lib/peer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPARE = 2, MOST = 40, CLIENTS = 8, REQUESTS = 25, PATIENCE_US = 20000000 };

struct stage {
    struct test_door door;
    struct tg_pool *pool;
    atomic_int started, stopped, served, inside;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool gate_open; /* requests for /gate wait for it */
    _Atomic int64_t idle_us;
};

static void serve(void *context, void *thread_context, struct tg_fcgi *fcgi)
{
    struct stage *stage = context;

    if (thread_context != context)
        abort(); /* cmocka's assertions are for its own thread */
    if (strcmp(tg_fcgi_param(fcgi, "REQUEST_URI"), "/gate") == 0) {
        pthread_mutex_lock(&stage->lock);
        atomic_fetch_add(&stage->inside, 1);
        while (!stage->gate_open)
            pthread_cond_wait(&stage->changed, &stage->lock);
        pthread_mutex_unlock(&stage->lock);
    }
    (void)tg_fcgi_write(fcgi, "Status: 200 OK\r\n\r\nok", 20);
    tg_fcgi_end(fcgi);
    atomic_fetch_add(&stage->served, 1);
    tg_fcgi_finish(fcgi);
}

static void *thread_start(void *context)
{
    atomic_fetch_add(&((struct stage *)context)->started, 1);
    return context;
}

static void thread_stop(void *context, void *thread_context)
{
    (void)thread_context;
    atomic_fetch_add(&((struct stage *)context)->stopped, 1);
}

static void limits(void *context, struct tg_pool_limits *ret)
{
    *ret = (struct tg_pool_limits){.threads_spare = SPARE,
                                   .threads_most = MOST,
                                   .idle_us = ((struct stage *)context)->idle_us,
                                   .kept_us = PATIENCE_US,
                                   .send_timeout_us = 2000000};
}

static void raise_curtain(struct stage *stage)
{
    const struct tg_pool_conf conf = {.cut_fd = -1,
                                      .serve = serve,
                                      .thread_start = thread_start,
                                      .thread_stop = thread_stop,
                                      .limits = limits,
                                      .context = stage};
    struct tg_pool_conf with_door = conf;

    *stage = (struct stage){.idle_us = PATIENCE_US};
    test_door_open(&stage->door, false);
    pthread_mutex_init(&stage->lock, NULL);
    pthread_cond_init(&stage->changed, NULL);
    with_door.listen_fd = stage->door.fd;
    assert_int_equal(tg_pool_start(&with_door, &stage->pool, NULL), TG_OK);
}

static void lower_curtain(struct stage *stage)
{
    assert_true(tg_pool_drain(stage->pool, tg_now_us() + PATIENCE_US));
    assert_int_equal(atomic_load(&stage->started), atomic_load(&stage->stopped));
    tg_pool_free(stage->pool);
    test_door_close(&stage->door);
    pthread_cond_destroy(&stage->changed);
    pthread_mutex_destroy(&stage->lock);
}

static void open_gate(struct stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    stage->gate_open = true;
    pthread_cond_broadcast(&stage->changed);
    pthread_mutex_unlock(&stage->lock);
}

static bool ask(const struct test_door *door, const char *uri)
{
    struct tg_buf out;
    int fd = test_peer_connect(door);
    bool good;

    tg_buf_init(&out, 0);
    test_peer_get(fd, uri);
    good = test_peer_answer(fd, &out) && strcmp(tg_buf_text(&out), "Status: 200 OK\r\n\r\nok") == 0;
    close(fd);
    tg_buf_done(&out);
    return good;
}

static void *client_main(void *context)
{
    struct stage *stage = context;

    for (int i = 0; i < REQUESTS; i++)
        if (!ask(&stage->door, "/"))
            return "failed";
    return NULL;
}

static void *gate_client(void *context)
{
    return ask(&((struct stage *)context)->door, "/gate") ? NULL : "failed";
}

static void start_clients(struct stage *stage, pthread_t *clients, int count,
                          void *(*run)(void *context))
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, run, stage), 0);
}

static void join_clients(const pthread_t *clients, int count)
{
    for (int i = 0; i < count; i++) {
        void *failed;

        pthread_join(clients[i], &failed);
        assert_null(failed);
    }
}

static void wait_for(atomic_int *value, int wanted)
{
    int64_t until_us = tg_now_us() + PATIENCE_US;

    while (atomic_load(value) != wanted) {
        assert_true(tg_now_us() < until_us);
        tg_clock_sleep_us(1000);
    }
}

static void every_request_is_served_once(void **state)
{
    struct stage stage;
    pthread_t clients[CLIENTS];

    (void)state;
    raise_curtain(&stage);
    start_clients(&stage, clients, CLIENTS, client_main);
    join_clients(clients, CLIENTS);
    wait_for(&stage.served, CLIENTS * REQUESTS); /* counted behind the answer */
    lower_curtain(&stage);
    assert_int_equal(atomic_load(&stage.served), CLIENTS * REQUESTS);
}

static void the_pool_grows_with_demand_up_to_its_most(void **state)
{
    struct stage stage;
    pthread_t clients[MOST + 4];

    (void)state;
    raise_curtain(&stage);
    start_clients(&stage, clients, MOST + 4, gate_client);
    wait_for(&stage.inside, MOST);
    assert_int_equal(tg_pool_figures(stage.pool).threads, MOST);
    open_gate(&stage);
    join_clients(clients, MOST + 4); /* those above waited in the socket's queue */
    assert_int_equal(tg_pool_figures(stage.pool).most_ever, MOST);
    lower_curtain(&stage);
}

static void threads_that_idle_end_but_for_the_spare_ones(void **state)
{
    struct stage stage;
    pthread_t clients[CLIENTS];
    int64_t until_us = tg_now_us() + PATIENCE_US;

    (void)state;
    raise_curtain(&stage);
    stage.idle_us = 1000;
    start_clients(&stage, clients, CLIENTS, gate_client);
    wait_for(&stage.inside, CLIENTS);
    open_gate(&stage);
    join_clients(clients, CLIENTS);
    while (tg_pool_figures(stage.pool).threads > SPARE + 1) { /* and the leader */
        assert_true(tg_now_us() < until_us);
        tg_pool_tend(stage.pool);
        tg_clock_sleep_us(1000);
    }
    tg_pool_tend(stage.pool);
    assert_true(ask(&stage.door, "/"));
    lower_curtain(&stage);
}

/* A web server that connects and says nothing takes one thread, not the door. */
static void a_stalled_peer_stops_nobody(void **state)
{
    struct stage stage;
    int silent[6];

    (void)state;
    raise_curtain(&stage);
    for (size_t i = 0; i < TG_COUNT_OF(silent); i++) {
        silent[i] = test_peer_connect(&stage.door);
        if (i % 2 == 0)
            test_peer_begin(silent[i], 0);
    }
    for (int i = 0; i < 10; i++)
        assert_true(ask(&stage.door, "/"));
    for (size_t i = 0; i < TG_COUNT_OF(silent); i++)
        close(silent[i]);
    lower_curtain(&stage);
}

static void a_drain_lets_running_requests_finish(void **state)
{
    struct stage stage;
    pthread_t clients[3];
    int64_t until_us = tg_now_us() + PATIENCE_US;

    (void)state;
    raise_curtain(&stage);
    start_clients(&stage, clients, 3, gate_client);
    wait_for(&stage.inside, 3);
    assert_false(tg_pool_drain(stage.pool, tg_now_us() + 1000));
    while (tg_pool_figures(stage.pool).threads > 3) { /* the idle ones end */
        assert_true(tg_now_us() < until_us);
        tg_clock_sleep_us(1000);
    }
    open_gate(&stage);
    lower_curtain(&stage);
    join_clients(clients, 3);
    assert_int_equal(atomic_load(&stage.served), 3);
}

static void a_drain_ends_kept_connections(void **state)
{
    struct stage stage;
    struct tg_buf out;
    int fd;

    (void)state;
    raise_curtain(&stage);
    fd = test_peer_connect(&stage.door);
    test_peer_begin(fd, TEST_KEEP_CONN);
    test_peer_params(fd, "REQUEST_URI", "/", NULL);
    test_peer_params_end(fd);
    test_peer_body_end(fd);
    tg_buf_init(&out, 0);
    assert_true(test_peer_answer(fd, &out));
    lower_curtain(&stage);
    assert_true(test_peer_is_closed(fd));
    close(fd);
    tg_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_served_once),
        cmocka_unit_test(the_pool_grows_with_demand_up_to_its_most),
        cmocka_unit_test(threads_that_idle_end_but_for_the_spare_ones),
        cmocka_unit_test(a_stalled_peer_stops_nobody),
        cmocka_unit_test(a_drain_lets_running_requests_finish),
        cmocka_unit_test(a_drain_ends_kept_connections),
    };

    if (tg_fcgi_library_init(NULL) != TG_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
