/* The client's side of a stream: keep-alives, leaving, the deposit. */
#include "tests/unit/unit.h"

#include "tests/unit/stream/scene.h"

static void a_failed_write_stops_the_stream_but_not_the_count(void **state)
{
    struct scene scene;

    (void)state;
    scene_begin(&scene);
    client_fake.fail_after = 1;
    assert_false(scene_feed(&scene, TEXT("one") TEXT("two") USAGE));
    scene_end(&scene, TG_HTTP_STOPPED);
    assert_true(scene.client.gone);
    assert_int_equal(scene.req.end_reason, TG_END_CLIENT_GONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin>" TEXT("one"));
    assert_true(scene.stream.has_usage); /* it lay in the same bytes: R1 */
    assert_true(scene.stream.arrived);
    scene_done(&scene);
}

static void keep_alives_come_after_silence_and_commit_headers_only(void **state)
{
    struct scene scene;
    int64_t wake_at_us, start_us;

    (void)state;
    scene_begin(&scene);
    start_us = scene.client.last_sent_at_us;
    assert_true(tg_client_tick(&scene.client, start_us + 14999999, &wake_at_us));
    assert_int_equal(wake_at_us, start_us + 15000000);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    assert_true(tg_client_tick(&scene.client, wake_at_us, &wake_at_us));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>");
    assert_false(scene.req.content_sent);
    assert_int_equal(wake_at_us, scene.client.last_sent_at_us + 5000000);
    /* the preamble stays held back: another channel may still serve */
    assert_true(scene_feed(&scene, ROLE));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>");
    assert_true(scene_feed(&scene, TEXT("hi")));
    assert_string_equal(tg_buf_text(&client_fake.sent), "<begin><ka>" ROLE TEXT("hi"));
    scene_done(&scene);
}

static void only_streams_are_kept_alive(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    scene.req.stream = false;
    client_fake.hold_wake_at_us = 77;
    assert_true(tg_client_tick(&scene.client, 76, &wake_at_us));
    assert_int_equal(wake_at_us, 77);
    assert_true(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 99000000,
                               &wake_at_us));
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    scene_done(&scene);
}

static void a_client_that_left_is_seen_before_anything_is_written(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    client_fake.gone = true;
    assert_false(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 99000000,
                                &wake_at_us));
    assert_int_equal(scene.req.end_reason, TG_END_CLIENT_GONE);
    assert_string_equal(tg_buf_text(&client_fake.sent), "");
    assert_false(tg_client_wait(&scene.client, INT64_MAX));
    scene_done(&scene);
}

static void a_worker_that_ends_cuts_its_streams(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    assert_true(scene_feed(&scene, ROLE TEXT("half")));
    assert_true(tg_client_tick(&scene.client, 1, &wake_at_us));
    atomic_store(&scene_worker.cut, true);
    assert_false(tg_client_tick(&scene.client, 2, &wake_at_us));
    assert_false(tg_client_wait(&scene.client, INT64_MAX));
    scene_end(&scene, TG_HTTP_STOPPED);
    assert_false(scene.client.gone);
    assert_int_equal(scene.stream.end_reason, TG_END_HANDLER_STOP);
    assert_int_equal(scene.stream.error.class, TG_CLASS_OVERLOAD);
    assert_string_equal(scene.stream.error.code, "shutting_down");
    assert_true(scene.stream.arrived);
    scene_done(&scene);
}

static void a_whole_answer_is_whole_although_the_worker_ends(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    assert_true(scene_feed(&scene, ROLE TEXT("all") FINISH DONE));
    atomic_store(&scene_worker.cut, true);
    assert_false(tg_client_tick(&scene.client, 2, &wake_at_us));
    scene_end(&scene, TG_HTTP_STOPPED);
    assert_int_equal(scene.stream.error.class, TG_OK);
    assert_int_equal(scene.stream.end_reason, TG_END_DONE);
    scene_done(&scene);
}

static void a_client_that_takes_no_ping_is_stuck(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    client_fake.fail_after = 0;
    assert_false(tg_client_tick(&scene.client, scene.client.last_sent_at_us + 15000000,
                                &wake_at_us));
    assert_int_equal(scene.req.end_reason, TG_END_PING_FAIL);
    assert_true(scene.client.gone);
    scene_done(&scene);
}

static void the_deposit_is_renewed_with_what_was_delivered(void **state)
{
    struct scene scene;
    int64_t wake_at_us;

    (void)state;
    scene_begin(&scene);
    client_fake.hold_wake_at_us = 100;
    assert_true(scene_feed(&scene, TEXT("some words to count")));
    assert_true(tg_client_tick(&scene.client, 99, &wake_at_us));
    assert_int_equal(client_fake.hold_ticks, 0);
    assert_true(tg_client_tick(&scene.client, 100, &wake_at_us));
    assert_int_equal(client_fake.hold_ticks, 1);
    assert_int_equal(client_fake.hold_tokens, tg_count_so_far(&scene.stream.count));
    scene_done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_write_stops_the_stream_but_not_the_count),
        cmocka_unit_test(keep_alives_come_after_silence_and_commit_headers_only),
        cmocka_unit_test(only_streams_are_kept_alive),
        cmocka_unit_test(a_client_that_left_is_seen_before_anything_is_written),
        cmocka_unit_test(a_worker_that_ends_cuts_its_streams),
        cmocka_unit_test(a_whole_answer_is_whole_although_the_worker_ends),
        cmocka_unit_test(a_client_that_takes_no_ping_is_stuck),
        cmocka_unit_test(the_deposit_is_renewed_with_what_was_delivered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
