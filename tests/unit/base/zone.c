/* Days begin when the clock on the wall says so, in every zone and on every day of the year. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "common/base/zone.h"
#include "common/base/zone_rule.h"

#include <stdlib.h>
#include <time.h>

static struct tg_zone *zone_of(const char *name)
{
    struct tg_zone *zone = NULL;
    struct tg_error err;

    if (tg_zone_load(name, &zone, &err) != TG_OK)
        fail_msg("%s: %s", name, err.message);
    return zone;
}

static int64_t at(const char *text)
{
    int64_t unix_us;

    if (!tg_time_parse(text, &unix_us))
        fail_msg("%s is no time", text);
    return unix_us / 1000000;
}

static const struct {
    const char *zone;
    int hour;
    const char *now, *begin, *end;
} days[] = {
    {"UTC", 0, "2026-11-30T12:00:00Z", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"},
    {"UTC", 0, "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"},
    {"UTC", 5, "2026-11-30T04:59:59Z", "2026-11-29T05:00:00Z", "2026-11-30T05:00:00Z"},
    {"Europe/Berlin", 4, "2026-07-01T12:00:00Z", "2026-07-01T02:00:00Z",
     "2026-07-02T02:00:00Z"},
    /* 23 hours: put forward on 2026-03-29 at 02:00 */
    {"Europe/Berlin", 0, "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z",
     "2026-03-29T22:00:00Z"},
    /* 25 hours: put back on 2026-10-25 at 03:00 */
    {"Europe/Berlin", 0, "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z",
     "2026-10-25T23:00:00Z"},
    /* 02:00 does not exist that day: the day begins at the jump */
    {"Europe/Berlin", 2, "2026-03-29T12:00:00Z", "2026-03-29T01:00:00Z",
     "2026-03-30T00:00:00Z"},
    {"Europe/Berlin", 2, "2026-03-29T00:59:59Z", "2026-03-28T01:00:00Z",
     "2026-03-29T01:00:00Z"},
    /* 02:00 comes twice: the first one counts, and only that */
    {"Europe/Berlin", 2, "2026-10-25T00:30:00Z", "2026-10-25T00:00:00Z",
     "2026-10-26T01:00:00Z"},
    {"Europe/Berlin", 2, "2026-10-25T01:30:00Z", "2026-10-25T00:00:00Z",
     "2026-10-26T01:00:00Z"},
    /* where free quotas of one vendor begin anew */
    {"America/Los_Angeles", 0, "2026-11-30T07:59:59Z", "2026-11-29T08:00:00Z",
     "2026-11-30T08:00:00Z"},
    {"America/Los_Angeles", 0, "2026-03-08T20:00:00Z", "2026-03-08T08:00:00Z",
     "2026-03-09T07:00:00Z"},
    {"Asia/Kathmandu", 0, "2026-06-01T12:00:00Z", "2026-05-31T18:15:00Z",
     "2026-06-01T18:15:00Z"},
    {"Australia/Lord_Howe", 2, "2026-10-04T00:00:00Z", "2026-10-03T15:30:00Z",
     "2026-10-04T15:00:00Z"},
    {"Pacific/Auckland", 0, "2026-01-15T00:00:00Z", "2026-01-14T11:00:00Z",
     "2026-01-15T11:00:00Z"},
    /* a day that never was: 2011-12-30 in Samoa */
    {"Pacific/Apia", 0, "2011-12-30T09:00:00Z", "2011-12-29T10:00:00Z",
     "2011-12-30T10:00:00Z"},
    /* behind the last change that any file lists: by rule */
    {"Europe/Berlin", 0, "2090-07-01T12:00:00Z", "2090-06-30T22:00:00Z",
     "2090-07-01T22:00:00Z"},
    {"Europe/Berlin", 0, "2090-12-01T12:00:00Z", "2090-11-30T23:00:00Z",
     "2090-12-01T23:00:00Z"},
    {"Pacific/Auckland", 0, "2090-01-15T00:00:00Z", "2090-01-14T11:00:00Z",
     "2090-01-15T11:00:00Z"},
};

static void a_day_begins_and_ends_with_the_wall_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(days); i++) {
        struct tg_zone *zone = zone_of(days[i].zone);
        int64_t begin = tg_zone_day_begin_s(zone, at(days[i].now), days[i].hour);
        int64_t end = tg_zone_day_end_s(zone, at(days[i].now), days[i].hour);

        if (begin != at(days[i].begin) || end != at(days[i].end))
            fail_msg("case %zu: %+lld, %+lld seconds beside it", i,
                     (long long)(begin - at(days[i].begin)), (long long)(end - at(days[i].end)));
        tg_zone_free(zone);
    }
}

/* Every hour of some years against the C library, which has the same files. */
static void offsets_are_those_of_the_c_library(void **state)
{
    static const char *const names[] = {"UTC", "Europe/Berlin", "America/New_York",
                                        "Africa/Casablanca", "Asia/Gaza", "America/Nuuk",
                                        "Australia/Lord_Howe", "Asia/Tokyo"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
        struct tg_zone *zone = zone_of(names[i]);

        setenv("TZ", names[i], 1);
        tzset();
        for (int year = 1970; year < 2110; year += 3)
            for (int64_t t = at("1970-01-01T00:00:00Z") + (year - 1970) * INT64_C(31556952), k = 0;
                 k < 800; k++, t += 39600) {
                const time_t now = (time_t)t;
                struct tm local;

                localtime_r(&now, &local);
                if (tg_zone_offset_s(zone, t) != local.tm_gmtoff)
                    fail_msg("%s at %lld: %lld instead of %ld", names[i], (long long)t,
                             (long long)tg_zone_offset_s(zone, t), local.tm_gmtoff);
            }
        tg_zone_free(zone);
    }
    setenv("TZ", "UTC", 1);
    tzset();
}

/* Whatever day and hour: begin <= now < end, and the end of one is the begin of the next. */
static void days_follow_each_other_without_a_gap(void **state)
{
    static const char *const names[] = {"Europe/Berlin", "America/Santiago", "Asia/Gaza",
                                        "Pacific/Apia", "Africa/Casablanca"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
        struct tg_zone *zone = zone_of(names[i]);

        for (int hour = 0; hour < 24; hour++)
            for (int64_t t = at("2025-12-30T00:10:00Z"); t < at("2027-01-03T00:00:00Z");
                 t += 7200) {
                int64_t end = tg_zone_day_end_s(zone, t, hour);

                assert_true(tg_zone_day_begin_s(zone, t, hour) <= t && t < end);
                assert_int_equal(tg_zone_day_begin_s(zone, end, hour), end);
                assert_int_equal(tg_zone_day_begin_s(zone, end - 1, hour),
                                 tg_zone_day_begin_s(zone, t, hour));
            }
        tg_zone_free(zone);
    }
}

static void what_is_no_zone_is_refused(void **state)
{
    static const char *const names[] = {"", "Mars/Olympus", "../../../etc/passwd", "/etc/localtime",
                                        "Europe", "Europe/Berlin ", "zone.tab", "right/UTC",
                                        "Europe/Ber\nlin"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
        struct tg_zone *zone = NULL;
        struct tg_error err = {0};

        assert_int_equal(tg_zone_load(names[i], &zone, &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, "invalid_zone");
        assert_null(zone);
    }
}

static void rules_in_text(void **state)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"UTC0", true},
        {"CET-1CEST,M3.5.0,M10.5.0/3", true},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", true},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", true},
        {"", false},
        {"CET", false},
        {"C-1", false},
        {"<+10-10", false},
        {"CET-1CEST", false},
        {"CET-1CEST,M3.5.0", false},
        {"CET-1CEST,M13.5.0,M10.5.0", false},
        {"CET-1CEST,M3.6.0,M10.5.0", false},
        {"CET-1CEST,M3.5.7,M10.5.0", false},
        {"CET-1CEST,M3.5.0,M10.5.0/3x", false},
        {"CET-999", false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_zone_rule rule;

        if (tg_zone_rule_parse(cases[i].text, &rule) != cases[i].good)
            fail_msg("%s", cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_begins_and_ends_with_the_wall_clock),
        cmocka_unit_test(offsets_are_those_of_the_c_library),
        cmocka_unit_test(days_follow_each_other_without_a_gap),
        cmocka_unit_test(what_is_no_zone_is_refused),
        cmocka_unit_test(rules_in_text),
    };

    return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
