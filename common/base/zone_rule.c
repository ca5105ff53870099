#include "common/base/zone_rule.h"

#include <string.h>

enum { HOUR_S = 3600, DAY_S = 86400, USUAL_CHANGE_S = 2 * HOUR_S, HOURS_MOST = 167 };

/* --- text ---------------------------------------------------------------------------------- */

static bool read_number(const char **at, int least, int most, int *ret)
{
    int value = 0, digits = 0;

    for (; **at >= '0' && **at <= '9' && digits < 4; digits++, ++*at)
        value = value * 10 + (**at - '0');
    *ret = value;
    return digits > 0 && value >= least && value <= most;
}

/* "[+-]hh[:mm[:ss]]" */
static bool read_time(const char **at, int64_t *ret)
{
    static const int units[] = {HOUR_S, 60, 1};
    int sign = **at == '-' ? -1 : 1;
    int64_t sum = 0;

    if (**at == '-' || **at == '+')
        ++*at;
    for (size_t i = 0; i < TG_COUNT_OF(units); i++) {
        int part;

        if (i > 0 && **at != ':')
            break;
        *at += i > 0;
        if (!read_number(at, 0, i == 0 ? HOURS_MOST : 59, &part))
            return false;
        sum += (int64_t)part * units[i];
    }
    *ret = sign * sum;
    return true;
}

/* "CET" or "<+0330>": what the time is called is of no interest. */
static bool skip_name(const char **at)
{
    const char *from = *at;

    if (*from == '<') {
        const char *end = strchr(from, '>');

        *at = end == NULL ? from : end + 1;
        return end != NULL;
    }
    while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
        ++*at;
    return *at - from >= 3;
}

/* ",Mmonth.week.day[/time]" */
static bool read_change(const char **at, struct tg_zone_change *ret)
{
    if (strncmp(*at, ",M", 2) != 0)
        return false;
    *at += 2;
    if (!read_number(at, 1, 12, &ret->month) || *(*at)++ != '.' ||
        !read_number(at, 1, 5, &ret->week) || *(*at)++ != '.' ||
        !read_number(at, 0, 6, &ret->day))
        return false;
    ret->at_s = USUAL_CHANGE_S;
    if (**at != '/')
        return true;
    ++*at;
    return read_time(at, &ret->at_s);
}

bool tg_zone_rule_parse(const char *text, struct tg_zone_rule *ret)
{
    struct tg_zone_rule rule = {0};
    int64_t west_s;

    if (!skip_name(&text) || !read_time(&text, &west_s))
        return false;
    rule.standard_s = rule.summer_s = -west_s; /* POSIX counts to the west */
    rule.changes = *text != '\0';
    if (rule.changes) {
        if (!skip_name(&text))
            return false;
        rule.summer_s = rule.standard_s + HOUR_S;
        if (*text != ',') {
            if (!read_time(&text, &west_s))
                return false;
            rule.summer_s = -west_s;
        }
        if (!read_change(&text, &rule.begin) || !read_change(&text, &rule.end))
            return false;
    }
    *ret = rule;
    return *text == '\0';
}

/* --- calendar ------------------------------------------------------------------------------ */

/* Days since 1970-01-01 of the first of a month. */
static int64_t days_of(int64_t year, int month)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t year_of(int64_t days)
{
    int64_t year = 1970 + floor_div(days, 366);

    while (days_of(year + 1, 1) <= days)
        year++;
    return year;
}

/* Wall-clock seconds since 1970 of a change in <year>. */
static int64_t change_s(const struct tg_zone_change *change, int64_t year)
{
    int64_t first = days_of(year, change->month);
    int64_t next = change->month == 12 ? days_of(year + 1, 1) : days_of(year, change->month + 1);
    int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t day = first + (change->day - weekday + 7) % 7 + 7 * (change->week - 1);

    while (day >= next)
        day -= 7;
    return day * DAY_S + change->at_s;
}

int64_t tg_zone_rule_offset_s(const struct tg_zone_rule *rule, int64_t unix_s)
{
    int64_t year, begin, end;

    if (!rule->changes)
        return rule->standard_s;
    year = year_of(floor_div(unix_s + rule->standard_s, DAY_S));
    begin = change_s(&rule->begin, year) - rule->standard_s;
    end = change_s(&rule->end, year) - rule->summer_s;
    if (begin < end)
        return unix_s >= begin && unix_s < end ? rule->summer_s : rule->standard_s;
    return unix_s >= end && unix_s < begin ? rule->standard_s : rule->summer_s;
}
