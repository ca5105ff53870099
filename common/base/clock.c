#include "common/base/clock.h"

#include "common/base/stop.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t tg_now_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t tg_unix_us(void)
{
    return read_clock(CLOCK_REALTIME) + TG_CLOCK_STEP_US;
}

void tg_clock_sleep_us(int64_t duration_us)
{
    struct timespec rest = {.tv_sec = duration_us / 1000000,
                            .tv_nsec = duration_us % 1000000 * 1000};

    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/* Splits into whole seconds and microseconds, right for times before 1970 too. */
static struct tm split(int64_t unix_us, int *ret_micro)
{
    int64_t seconds = unix_us / 1000000, micro = unix_us % 1000000;
    time_t when;
    struct tm parts;

    if (micro < 0) {
        micro += 1000000;
        seconds--;
    }
    when = (time_t)seconds;
    gmtime_r(&when, &parts);
    *ret_micro = (int)micro;
    return parts;
}

void tg_time_format(int64_t unix_us, char text[TG_TIME_TEXT])
{
    int micro;
    struct tm parts = split(unix_us, &micro);
    size_t len = strftime(text, TG_TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &parts);

    snprintf(text + len, TG_TIME_TEXT - len, ".%06dZ", micro);
}

void tg_time_format_sql(int64_t unix_us, char text[TG_TIME_TEXT])
{
    int micro;
    struct tm parts = split(unix_us, &micro);
    size_t len = strftime(text, TG_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &parts);

    snprintf(text + len, TG_TIME_TEXT - len, ".%06d", micro);
}

bool tg_time_parse(const char *text, int64_t *ret_unix_us)
{
    struct tm parts = {0}, back;
    int used = 0;
    int64_t micro = 0, scale = 100000;
    time_t when;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
               &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6)
        return false;
    text += used;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, scale /= 10)
            micro += (*text - '0') * scale;
    if (*text == 'Z')
        text++;
    if (*text != '\0')
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    back = parts;
    when = timegm(&back);
    if (back.tm_mday != parts.tm_mday || back.tm_mon != parts.tm_mon ||
        back.tm_hour != parts.tm_hour || back.tm_min != parts.tm_min)
        return false; /* 31 February and the like were normalised away */
    *ret_unix_us = (int64_t)when * 1000000 + micro;
    return true;
}
