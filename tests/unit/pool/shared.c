/* Node-shared memory: what one process adds the others see, and a dead worker leaks nothing. */
#include "tests/unit/unit.h"

#include "fcgi-app/shared.h"

#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3 };

static void gauges_of_all_workers_add_up_and_a_dead_ones_go(void **state)
{
    struct tg_shared *shared = tg_shared_new(WORKERS);
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        tg_shared_gauge(shared, 1, TG_GAUGE_INFLIGHT, 5);
        tg_shared_gauge(shared, 1, TG_GAUGE_THREADS, 7);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    tg_shared_gauge(shared, 0, TG_GAUGE_INFLIGHT, 3);
    tg_shared_gauge(shared, 0, TG_GAUGE_INFLIGHT, -1);
    assert_int_equal(tg_shared_gauge_sum(shared, TG_GAUGE_INFLIGHT), 7);
    tg_shared_worker_died(shared, 1);
    assert_int_equal(tg_shared_gauge_sum(shared, TG_GAUGE_INFLIGHT), 2);
    assert_int_equal(tg_shared_gauge_sum(shared, TG_GAUGE_THREADS), 0);
}

static void counters_and_stage_times_only_rise(void **state)
{
    struct tg_shared *shared = tg_shared_new(1);
    int64_t us, count;

    (void)state;
    tg_shared_count(shared, TG_COUNTER_QUOTA, 40);
    tg_shared_count(shared, TG_COUNTER_QUOTA, 2);
    assert_int_equal(tg_shared_counter(shared, TG_COUNTER_QUOTA), 42);
    assert_int_equal(tg_shared_counter(shared, TG_COUNTER_ERRORS), 0);
    tg_shared_stage_time(shared, TG_STAGE_BODY, 10);
    tg_shared_stage_time(shared, TG_STAGE_BODY, 15);
    tg_shared_stage_sum(shared, TG_STAGE_BODY, &us, &count);
    assert_int_equal(us, 25);
    assert_int_equal(count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauges_of_all_workers_add_up_and_a_dead_ones_go),
        cmocka_unit_test(counters_and_stage_times_only_rise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
