/* Arena, buffer, clock, id and money: the ground everything stands on. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/id.h"
#include "common/base/money.h"

static void arena_gives_aligned_memory_of_any_size(void **state)
{
    struct tg_arena *arena = tg_arena_new();

    (void)state;
    for (size_t size = 0; size < 10000; size = size * 2 + 1) {
        char *got = tg_arena_alloc(arena, size);

        assert_int_equal((uintptr_t)got % _Alignof(max_align_t), 0);
        memset(got, 0xa5, size);
    }
    tg_arena_reset(arena);
    assert_string_equal(tg_arena_printf(arena, "%s-%d", "x", 7), "x-7");
    tg_arena_free(arena);
}

static void buffer_failure_is_sticky(void **state)
{
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 8);
    assert_string_equal(tg_buf_text(&buf), "");
    tg_buf_str(&buf, "12345678");
    assert_false(buf.failed);
    tg_buf_char(&buf, '9');
    assert_true(buf.failed);
    tg_buf_reset(&buf);
    tg_buf_printf(&buf, "%d", 42);
    assert_string_equal(tg_buf_text(&buf), "42");
    tg_buf_drop(&buf, 1);
    assert_string_equal(tg_buf_text(&buf), "2");
    tg_buf_done(&buf);
}

static void time_text_round_trips_and_bad_dates_are_refused(void **state)
{
    static const char *const bad[] = {"", "2026", "2026-02-31T00:00:00Z", "2026-13-01T00:00:00Z",
                                      "2026-01-01T00:00:00+02:00", "2026-01-01 24:01:00Z"};
    char text[TG_TIME_TEXT];
    int64_t when;

    (void)state;
    assert_true(tg_time_parse("2027-01-31T23:59:58.25Z", &when));
    tg_time_format(when, text);
    assert_string_equal(text, "2027-01-31T23:59:58.250000Z");
    tg_time_format_sql(when, text);
    assert_string_equal(text, "2027-01-31 23:59:58.250000");
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_false(tg_time_parse(bad[i], &when));
}

static void ids_are_ordered_uuid_version_7(void **state)
{
    struct tg_id first = tg_id_new(), back;
    char text[TG_ID_TEXT];
    int64_t now_ms = tg_unix_us() / 1000;

    (void)state;
    tg_id_format(&first, text);
    assert_int_equal(strlen(text), 36);
    assert_int_equal(text[14], '7');
    assert_true(tg_id_parse(text, &back));
    assert_memory_equal(first.bytes, back.bytes, TG_ID_BYTES);
    assert_in_range(tg_id_unix_ms(&first), now_ms - 1000, now_ms + 1000);
    assert_false(tg_id_parse("0197a1b2-0000-7000-8000-00000000000g", &back));
    assert_false(tg_id_parse("0197a1b2", &back));
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct tg_id));
}

/* A child must not go on with the random bytes of its parent. */
static void no_id_is_made_twice_not_even_by_a_child(void **state)
{
    enum { EACH = 100 };
    struct tg_id ids[3 * EACH];
    int pipe_fds[2], status;
    pid_t child;

    (void)state;
    for (int i = 0; i < EACH; i++)
        ids[i] = tg_id_new();
    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    for (int i = EACH; i < 2 * EACH; i++)
        ids[i] = tg_id_new();
    if (child == 0) {
        const size_t len = EACH * sizeof(struct tg_id);

        _exit(write(pipe_fds[1], &ids[EACH], len) == (ssize_t)len ? 0 : 1);
    }
    assert_int_equal(read(pipe_fds[0], &ids[2 * EACH], EACH * sizeof(struct tg_id)),
                     EACH * sizeof(struct tg_id));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    for (size_t i = 0; i < TG_COUNT_OF(ids); i++)
        memset(ids[i].bytes, 0, 6); /* the time alone must not tell them apart */
    qsort(ids, TG_COUNT_OF(ids), sizeof ids[0], by_bytes);
    for (size_t i = 1; i < TG_COUNT_OF(ids); i++)
        assert_true(by_bytes(&ids[i - 1], &ids[i]) < 0);
}

static void dollars_are_read_and_written_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t quota;
    } good[] = {
        {"1", 500000},        {"0.000002", 1},    {"-12.5", -6250000}, {"+3.10", 1550000},
        {"0.0000020", 1},     {"18000000000", TG_QUOTA_MAX}, {".5", 250000},
    };
    static const char *const bad[] = {"", "-", ".", "1e3", "1,5", "0.000001", "0.0000021",
                                      "18000000000.000002", "99999999999999999999", "1 "};
    char text[TG_USD_TEXT];
    int64_t quota;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(good); i++) {
        assert_true(tg_usd_parse(good[i].text, &quota));
        assert_int_equal(quota, good[i].quota);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_false(tg_usd_parse(bad[i], &quota));
    tg_usd_format(-6250001, text);
    assert_string_equal(text, "-12.500002");
    tg_usd_format(1, text);
    assert_string_equal(text, "0.000002");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_aligned_memory_of_any_size),
        cmocka_unit_test(buffer_failure_is_sticky),
        cmocka_unit_test(time_text_round_trips_and_bad_dates_are_refused),
        cmocka_unit_test(ids_are_ordered_uuid_version_7),
        cmocka_unit_test(no_id_is_made_twice_not_even_by_a_child),
        cmocka_unit_test(dollars_are_read_and_written_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
