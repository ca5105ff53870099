#include "admin-cgi/web/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/money.h"

bool web_zone_ok(const char *zone)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/+-";
    char path[160];
    size_t len = strlen(zone);

    if (len == 0 || len > 64 || strspn(zone, allowed) != len || zone[0] == '/' ||
        strstr(zone, "//") != NULL)
        return false;
    if (strcmp(zone, "UTC") == 0)
        return true;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", zone);
    return access(path, R_OK) == 0;
}

static void set_zone(const char *zone)
{
    static char now[80] = "";

    if (strcmp(now, zone) == 0)
        return;
    snprintf(now, sizeof now, "%s", zone);
    setenv("TZ", web_zone_ok(zone) ? zone : "UTC", 1);
    tzset();
}

void web_show_time(struct tg_buf *out, const char *text, const char *zone)
{
    struct tm parts;
    char shown[32];
    int64_t unix_us;
    time_t seconds;

    if (!tg_time_parse(text, &unix_us)) {
        tg_buf_str(out, text);
        return;
    }
    set_zone(zone);
    seconds = (time_t)(unix_us / 1000000);
    localtime_r(&seconds, &parts);
    strftime(shown, sizeof shown, "%Y-%m-%d %H:%M:%S", &parts);
    tg_buf_str(out, shown);
}

void web_show_usd(struct tg_buf *out, int64_t quota)
{
    char text[TG_USD_TEXT];
    size_t len, least;

    tg_usd_format(quota, text);
    len = strlen(text);
    least = (size_t)(strchr(text, '.') - text) + 3;
    while (len > least && text[len - 1] == '0')
        len--;
    tg_buf_add(out, text, len);
}

void web_show_seconds(struct tg_buf *out, int64_t duration_us)
{
    int64_t ms = (duration_us + 500) / 1000;

    tg_buf_printf(out, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
}

void web_show_number(struct tg_buf *out, int64_t number)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)number);
    int first = digits[0] == '-' ? 1 : 0;

    for (int i = 0; i < len; i++) {
        if (i > first && (len - i) % 3 == 0)
            tg_buf_char(out, ',');
        tg_buf_char(out, digits[i]);
    }
}
