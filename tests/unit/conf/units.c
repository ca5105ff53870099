/* Texts with units, status ranges, addresses and networks. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "common/conf/units.h"

struct number_case {
    const char *text;
    int64_t value;
};

static void durations_need_a_unit(void **state)
{
    static const struct number_case good[] = {
        {"0", 0},          {"0s", 0},          {"7us", 7},
        {"250ms", 250000}, {"30s", 30000000},  {"10m", INT64_C(600000000)},
        {"007s", 7000000}, {"24h", INT64_C(86400000000)}, {"34d", INT64_C(2937600000000)},
    };
    static const char *const bad[] = {"",    "s",   "5",   "-5s",  "+5s", " 5s", "5 s", "5s ",
                                      "1.5s", "5S", "5sec", "5min", "5s5s", "0x5s",
                                      "9223372036854775807s", "99999999999999999999us"};
    int64_t us;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(good); i++) {
        assert_true(tg_duration_parse(good[i].text, &us));
        assert_true(us == good[i].value);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_duration_parse(bad[i], &us))
            fail_msg("accepted: %s", bad[i]);
}

static void sizes_are_powers_of_1024(void **state)
{
    static const struct number_case good[] = {
        {"0", 0},           {"512", 512},     {"512B", 512},
        {"64KiB", 65536},   {"1MiB", 1048576}, {"1GiB", INT64_C(1) << 30},
        {"2TiB", INT64_C(2) << 40},
    };
    static const char *const bad[] = {"", "KiB", "1K", "1KB", "1kib", "1MB", "1 MiB", "-1MiB",
                                      "1.5GiB", "9000000TiB", "1PiB"};
    int64_t bytes;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(good); i++) {
        assert_true(tg_size_parse(good[i].text, &bytes));
        assert_true(bytes == good[i].value);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_size_parse(bad[i], &bytes))
            fail_msg("accepted: %s", bad[i]);
}

static void status_ranges_are_merged_and_sorted(void **state)
{
    static const char *const bad[] = {"99",  "600", "500-499", "500-",     "-500", "5xx",
                                      "500;501", "500--501", "100-700", "4294967796"};
    struct tg_status_ranges ranges;

    (void)state;
    assert_true(tg_status_ranges_parse("529, 500-503,502-505 429  430", &ranges));
    assert_int_equal(ranges.count, 3);
    assert_int_equal(ranges.from[0], 429);
    assert_int_equal(ranges.to[0], 430);
    assert_int_equal(ranges.from[1], 500);
    assert_int_equal(ranges.to[1], 505);
    assert_int_equal(ranges.from[2], 529);
    assert_int_equal(ranges.to[2], 529);
    assert_true(tg_status_ranges_has(&ranges, 504));
    assert_false(tg_status_ranges_has(&ranges, 506));
    assert_false(tg_status_ranges_has(&ranges, 0));
    assert_true(tg_status_ranges_parse("100-599", &ranges));
    assert_true(tg_status_ranges_has(&ranges, 599));
    assert_true(tg_status_ranges_parse(" ", &ranges));
    assert_int_equal(ranges.count, 0);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_status_ranges_parse(bad[i], &ranges))
            fail_msg("accepted: %s", bad[i]);
}

static void more_than_32_status_ranges_are_refused(void **state)
{
    char text[400] = "";
    struct tg_status_ranges ranges;
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 33; i++) {
        assert_int_equal(tg_status_ranges_parse(text, &ranges), true);
        assert_int_equal(ranges.count, i);
        len += (size_t)snprintf(text + len, sizeof text - len, "%d,", 100 + 2 * i);
    }
    assert_false(tg_status_ranges_parse(text, &ranges));
}

static void addresses_are_128_bits(void **state)
{
    static const char *const same[][2] = {
        {"192.0.2.7", "::ffff:192.0.2.7"},
        {"2001:db8::1", "[2001:DB8:0:0::1]"},
        {"::ffff:c000:207", "[::ffff:192.0.2.7]"},
    };
    static const char *const bad[] = {
        "",     "localhost", "1.2.3", "1.2.3.4.5",    "256.0.0.1", "1.2.3.4:80", "[1.2.3.4]",
        "[::1", "::1]",      "[]",    "fe80::1%eth0", ":::",       "01.2.3.4",   " 1.2.3.4",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb",
    };
    struct tg_address a, b;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(same); i++) {
        assert_true(tg_address_parse(same[i][0], &a));
        assert_true(tg_address_parse(same[i][1], &b));
        assert_memory_equal(a.bytes, b.bytes, 16);
    }
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_address_parse(bad[i], &a))
            fail_msg("accepted: %s", bad[i]);
}

static void networks_match_by_their_prefix(void **state)
{
    static const struct {
        const char *list, *address;
        bool match;
    } cases[] = {
        {"", "10.0.0.1", false},
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/8", "::ffff:10.1.1.1", true},
        {"10.0.0.0/8", "::10.1.1.1", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "::1", false},
        {"::/0", "203.0.113.9", true},
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.6", false},
        {"192.0.2.128/25", "192.0.2.127", false},
        {"192.0.2.128/25", "192.0.2.129", true},
        {"100.64.0.0/10", "100.127.255.255", true},
        {"100.64.0.0/10", "100.128.0.0", false},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"127.0.0.0/8, ::1/128", "::1", true},
        {"127.0.0.0/8,,[::1]", "::1", true},
        {"127.0.0.0/8 ::1", "::2", false},
    };
    struct tg_arena *arena = tg_arena_new();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_address address;
        struct tg_cidr *list;
        size_t count;

        assert_int_equal(tg_cidrs_parse(arena, cases[i].list, &list, &count, NULL), TG_OK);
        assert_true(tg_address_parse(cases[i].address, &address));
        if (tg_cidrs_match(list, count, &address) != cases[i].match)
            fail_msg("%s in %s", cases[i].address, cases[i].list);
    }
    tg_arena_free(arena);
}

static void networks_with_mistakes_are_refused(void **state)
{
    static const char *const bad[] = {
        "10.0.0.0/33", "::/129", "10.0.0.0/",    "10.0.0.0/-1", "10.0.0.0/8x", "10/8",
        "10.1.2.3/8",  "/8",     "10.0.0.0/8/8", "2001:db8::1/64", "x", "10.0.0.0/255.0.0.0",
    };
    struct tg_arena *arena = tg_arena_new();
    struct tg_cidr cidr, *list;
    struct tg_error err;
    size_t count;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_cidr_parse(bad[i], &cidr))
            fail_msg("accepted: %s", bad[i]);
    assert_false(tg_cidr_parse("", &cidr));
    assert_int_equal(tg_cidrs_parse(arena, "::1, 10.0.0.1/8", &list, &count, &err),
                     TG_CLASS_INVALID);
    assert_string_equal(err.code, "invalid_cidr");
    assert_non_null(strstr(err.message, "\"10.0.0.1/8\""));
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_need_a_unit),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(status_ranges_are_merged_and_sorted),
        cmocka_unit_test(more_than_32_status_ranges_are_refused),
        cmocka_unit_test(addresses_are_128_bits),
        cmocka_unit_test(networks_match_by_their_prefix),
        cmocka_unit_test(networks_with_mistakes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
