#include "fcgi-app/relay/wait.h"

#include "common/base/clock.h"

#include <string.h>
#include <time.h>

/* A number as large as this is a moment, not a wait of decades. */
static const int64_t moment_s = INT64_C(1000000000), moment_ms = INT64_C(1000000000000);
static const int64_t thousandths_most = INT64_C(10000000000000000);

/* Thousandths of the number at <at>, which moves behind it. */
static bool read_thousandths(const char **at, int64_t *ret)
{
    int64_t sum = 0, scale = 1000;
    bool point = false, any = false;

    for (; (**at >= '0' && **at <= '9') || (**at == '.' && !point); ++*at) {
        if (**at == '.') {
            point = true;
            continue;
        }
        any = true;
        if (point)
            scale /= 10;
        sum = point ? sum + (**at - '0') * scale : sum * 10 + (**at - '0') * 1000;
        sum = TG_MIN(sum, thousandths_most);
    }
    *ret = sum;
    return any;
}

static int64_t times(int64_t thousandths, int64_t unit_ms)
{
    if (thousandths > INT64_MAX / 2 / unit_ms)
        return INT64_MAX / 2000;
    return (thousandths * unit_ms + 999) / 1000;
}

bool tg_wait_number(const char *text, int64_t unit_ms, int64_t *ret_ms)
{
    int64_t thousandths;

    if (!read_thousandths(&text, &thousandths) || *text != '\0')
        return false;
    *ret_ms = times(thousandths, unit_ms);
    return true;
}

bool tg_wait_date(const char *text, int64_t now_unix_us, int64_t *ret_ms)
{
    struct tm when = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &when);

    if (end == NULL || *end != '\0')
        return false;
    *ret_ms = (int64_t)timegm(&when) * 1000 - now_unix_us / 1000;
    return true;
}

/* "6m0s", "20ms", "1.5s"; *ret_end behind it. */
static bool read_duration(const char *text, int64_t *ret_ms, const char **ret_end)
{
    static const struct {
        const char *name;
        int64_t unit_ms;
    } units[] = {{"ms", 1}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"d", 86400000}};
    int64_t sum = 0;
    bool any = false;

    for (;;) {
        const char *at = text;
        int64_t thousandths;
        size_t i = 0;

        if (!read_thousandths(&at, &thousandths))
            break;
        while (i < TG_COUNT_OF(units) && strncmp(at, units[i].name, strlen(units[i].name)) != 0)
            i++;
        if (i == TG_COUNT_OF(units))
            break;
        text = at + strlen(units[i].name);
        sum = TG_MIN(sum + times(thousandths, units[i].unit_ms), INT64_MAX / 2000);
        any = true;
    }
    *ret_ms = sum;
    *ret_end = text;
    return any;
}

static bool read_moment(const char *text, int64_t now_unix_us, int64_t *ret_ms)
{
    int64_t number_ms, unix_us;

    if (tg_time_parse(text, &unix_us)) {
        *ret_ms = (unix_us - now_unix_us) / 1000;
        return true;
    }
    if (tg_wait_number(text, 1000, &number_ms) && number_ms / 1000 >= moment_s) {
        *ret_ms = (number_ms / 1000 >= moment_ms ? number_ms / 1000 : number_ms) -
                  now_unix_us / 1000;
        return true;
    }
    return tg_wait_date(text, now_unix_us, ret_ms);
}

bool tg_wait_read(const char *text, int64_t unit_ms, int64_t now_unix_us, int64_t *ret_ms)
{
    const char *end;

    if (read_moment(text, now_unix_us, ret_ms) || tg_wait_number(text, unit_ms, ret_ms))
        return true;
    return read_duration(text, ret_ms, &end) && *end == '\0';
}

bool tg_wait_in_words(const char *text, int64_t *ret_ms)
{
    static const char *const words[] = {"again in ", "retry in "};
    const char *end;

    for (size_t i = 0; i < TG_COUNT_OF(words); i++) {
        const char *at = strcasestr(text, words[i]);

        if (at != NULL && read_duration(at + strlen(words[i]), ret_ms, &end))
            return true;
    }
    return false;
}
