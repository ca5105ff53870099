#include "common/ledger/period.h"

#include "common/conf/units.h"

#include <string.h>
#include <time.h>

enum { MONDAY = 1, DAYS_MOST = 62 };

static bool any_day(const struct tm *day)
{
    (void)day;
    return true;
}

static bool is_monday(const struct tm *day)
{
    return day->tm_wday == MONDAY;
}

static bool is_first(const struct tm *day)
{
    return day->tm_mday == 1;
}

static bool next_midnight(const struct tg_zone *zone, int64_t now_s,
                          bool (*fits)(const struct tm *), int64_t *ret_s)
{
    int64_t at_s = now_s;

    for (int i = 0; i < DAYS_MOST; i++) {
        struct tm day;
        time_t local_s;

        at_s = tg_zone_day_end_s(zone, at_s, 0);
        local_s = (time_t)(at_s + tg_zone_offset_s(zone, at_s));
        if (gmtime_r(&local_s, &day) != NULL && fits(&day)) {
            *ret_s = at_s;
            return true;
        }
    }
    return false;
}

bool tg_period_next_end(const char *period, const struct tg_zone *zone, int64_t end_s,
                        int64_t now_s, int64_t *ret_s)
{
    static const struct {
        const char *name;
        bool (*fits)(const struct tm *);
    } calendars[] = {{"daily", any_day}, {"weekly", is_monday}, {"monthly", is_first}};
    int64_t length_us, length_s;

    for (size_t i = 0; i < TG_COUNT_OF(calendars); i++)
        if (strcmp(period, calendars[i].name) == 0)
            return next_midnight(zone, now_s, calendars[i].fits, ret_s);
    if (!tg_duration_parse(period, &length_us) || length_us < 1000000)
        return false;
    length_s = length_us / 1000000;
    *ret_s = end_s > now_s ? end_s : end_s + ((now_s - end_s) / length_s + 1) * length_s;
    return true;
}
