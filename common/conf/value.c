#include "common/conf/value.h"

#include "common/base/money.h"
#include "common/conf/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one option asks of its text beyond its type. */
typedef bool text_check_fn(const char *text);

static bool is_number(const char *text, int64_t least, int64_t most, int base)
{
    size_t len = strspn(text, "0123456789");
    long long number;
    char *end;

    if (len == 0 || len > 18 || text[len] != '\0')
        return false;
    number = strtoll(text, &end, base);
    return *end == '\0' && number >= least && number <= most;
}

static bool is_address(const char *text)
{
    const char *port;

    if (strncmp(text, "unix:", 5) == 0)
        return text[5] == '/' && strlen(text + 5) < 108; /* sun_path of unix(7) */
    if (strncmp(text, "tcp:", 4) != 0)
        return false;
    port = strrchr(text + 4, ':');
    return port != NULL && port > text + 4 && is_number(port + 1, 1, 65535, 10);
}

static bool is_mode(const char *text)
{
    return is_number(text, 0, 0777, 8);
}

static bool is_database(const char *text)
{
    return strncmp(text, "mysql://", 8) == 0 && text[8] != '\0';
}

static bool is_level(const char *text)
{
    return strcmp(text, "debug") == 0 || strcmp(text, "info") == 0 ||
           strcmp(text, "warning") == 0 || strcmp(text, "error") == 0;
}

static bool is_sync(const char *text)
{
    return strcmp(text, "none") == 0 || strcmp(text, "second") == 0;
}

static bool is_redis(const char *text)
{
    return strcmp(text, "none") == 0 || is_address(text);
}

static bool is_unpriced_rule(const char *text)
{
    return strcmp(text, "refuse") == 0 || strcmp(text, "opt_in") == 0 || strcmp(text, "bill") == 0;
}

static bool is_test_mode(const char *text)
{
    return strcmp(text, "off") == 0 || strcmp(text, "passive") == 0 || strcmp(text, "all") == 0;
}

static const struct {
    enum tg_option_id id;
    text_check_fn *check;
    const char *why;
} text_checks[] = {
    {TG_OPTION_LISTEN_ADDRESS, is_address, "must be unix:/PATH or tcp:HOST:PORT"},
    {TG_OPTION_LISTEN_MODE, is_mode, "must be octal permissions like 0660"},
    {TG_OPTION_DATABASE_MAIN, is_database, "must be mysql://USER@HOST/NAME"},
    {TG_OPTION_DATABASE_LOG, is_database, "must be mysql://USER@HOST/NAME"},
    {TG_OPTION_REDIS_ADDRESS, is_redis, "must be unix:/PATH or tcp:HOST:PORT, or none"},
    {TG_OPTION_LOG_LEVEL, is_level, "must be debug, info, warning or error"},
    {TG_OPTION_LEDGER_SPOOL_SYNC, is_sync, "must be none or second"},
    {TG_OPTION_PRICE_UNPRICED, is_unpriced_rule, "must be refuse, opt_in or bill"},
    {TG_OPTION_CHANNEL_TEST_MODE, is_test_mode, "must be off, passive or all"},
};

static bool is_fine_text(enum tg_option_id id, const char *text, const char **why)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *why = "holds a control character";
            return false;
        }
    for (size_t i = 0; i < TG_COUNT_OF(text_checks); i++)
        if (text_checks[i].id == id && !text_checks[i].check(text)) {
            *why = text_checks[i].why;
            return false;
        }
    return true;
}

/* "1.25": digits with at most one point, no sign, no exponent. */
static bool is_decimal(const char *text)
{
    size_t whole = strspn(text, "0123456789"), rest = 0;

    if (text[whole] == '.')
        rest = 1 + strspn(text + whole + 1, "0123456789");
    return whole > 0 && rest != 1 && whole + rest <= 30 && text[whole + rest] == '\0';
}

static bool is_cidrs(const char *text)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_cidr *list;
    size_t count;
    bool ok = tg_cidrs_parse(arena, text, &list, &count, NULL) == TG_OK;

    tg_arena_free(arena);
    return ok;
}

static bool read_int(const char *text, int64_t *ret)
{
    bool negative = *text == '-';

    if (!is_number(text + negative, 0, INT64_MAX, 10))
        return false;
    *ret = strtoll(text, NULL, 10);
    return true;
}

static bool read_bool(const char *text, int64_t *ret)
{
    *ret = strcmp(text, "true") == 0;
    return *ret == 1 || strcmp(text, "false") == 0;
}

/* Reads <text> by the option's type; <why> says what it should have been. */
static bool read_value(enum tg_option_id id, const char *text, int64_t *ret, const char **why)
{
    struct tg_status_ranges ranges;

    *ret = 0;
    switch (tg_options[id].type) {
    case TG_OPTION_INT_TYPE:
        *why = "must be a whole number";
        return read_int(text, ret);
    case TG_OPTION_BOOL_TYPE:
        *why = "must be true or false";
        return read_bool(text, ret);
    case TG_OPTION_DURATION_TYPE:
        *why = "must be a duration like 250ms, 30s, 10m or 24h";
        return tg_duration_parse(text, ret);
    case TG_OPTION_SIZE_TYPE:
        *why = "must be a size like 64KiB, 8MiB or 1GiB";
        return tg_size_parse(text, ret);
    case TG_OPTION_USD_TYPE:
        *why = "must be an amount in USD like 2.50";
        return tg_usd_parse(text, ret);
    case TG_OPTION_DECIMAL_TYPE:
        *why = "must be a decimal number like 1.25";
        return is_decimal(text);
    case TG_OPTION_CIDRS_TYPE:
        *why = "must be a list of networks like 10.0.0.0/8, ::1/128";
        return is_cidrs(text);
    case TG_OPTION_RANGES_TYPE:
        *why = "must be a list of at most 32 statuses and ranges like 429, 500-503";
        return tg_status_ranges_parse(text, &ranges);
    case TG_OPTION_PATH_TYPE:
        *why = "must be an absolute path or empty";
        return (*text == '\0' || *text == '/') && is_fine_text(id, text, why);
    case TG_OPTION_TEXT_TYPE:
        break;
    }
    return is_fine_text(id, text, why);
}

static bool in_bounds(const struct tg_option *option, int64_t number, char why[TG_VALUE_WHY])
{
    char least[TG_BOUND_TEXT], most[TG_BOUND_TEXT];

    if ((option->least == 0 && option->most == 0) ||
        (number >= option->least && number <= option->most))
        return true;
    tg_option_bound(option->type, option->least, least);
    tg_option_bound(option->type, option->most, most);
    snprintf(why, TG_VALUE_WHY, "must be between %s and %s", least, most);
    return false;
}

bool tg_option_value(enum tg_option_id id, const char *text, int64_t *ret_number,
                     char why[TG_VALUE_WHY])
{
    const char *reason = NULL;
    int64_t number;

    if (!read_value(id, text, &number, &reason)) {
        snprintf(why, TG_VALUE_WHY, "%s", reason);
        return false;
    }
    if (!in_bounds(&tg_options[id], number, why))
        return false;
    *ret_number = number;
    return true;
}

void tg_option_bound(enum tg_option_type type, int64_t bound, char text[TG_BOUND_TEXT])
{
    static const struct {
        enum tg_option_type type;
        int64_t factor;
        const char *name;
    } units[] = {
        {TG_OPTION_DURATION_TYPE, INT64_C(3600000000), "h"},
        {TG_OPTION_DURATION_TYPE, INT64_C(60000000), "m"},
        {TG_OPTION_DURATION_TYPE, 1000000, "s"},
        {TG_OPTION_DURATION_TYPE, 1000, "ms"},
        {TG_OPTION_DURATION_TYPE, 1, "us"},
        {TG_OPTION_SIZE_TYPE, INT64_C(1) << 40, "TiB"},
        {TG_OPTION_SIZE_TYPE, INT64_C(1) << 30, "GiB"},
        {TG_OPTION_SIZE_TYPE, INT64_C(1) << 20, "MiB"},
        {TG_OPTION_SIZE_TYPE, INT64_C(1) << 10, "KiB"},
        {TG_OPTION_SIZE_TYPE, 1, "B"},
        {TG_OPTION_USD_TYPE, TG_QUOTA_PER_USD, ""},
    };

    for (size_t i = 0; i < TG_COUNT_OF(units) && bound != 0; i++)
        if (units[i].type == type && bound % units[i].factor == 0) {
            snprintf(text, TG_BOUND_TEXT, "%" PRId64 "%s", bound / units[i].factor, units[i].name);
            return;
        }
    snprintf(text, TG_BOUND_TEXT, "%" PRId64, bound);
}
