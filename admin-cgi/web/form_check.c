#include "admin-cgi/web/form.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "admin-cgi/web/show.h"
#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/conf/units.h"

enum {
    TEXT_USUAL = 255,
    LONG_USUAL = 65536,
    ITEMS_USUAL = 500,
    ITEM_CHARS = 512,
    SECRET_BYTES = 8000
};

static const char *say(const struct web_form *form, const char *format, long long a, long long b)
{
    char text[160];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, a, b);
#pragma GCC diagnostic pop
    return tg_arena_strdup(form->arena, text);
}

static size_t characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static char *trimmed(const struct web_form *form, const char *text)
{
    size_t len;

    text += strspn(text, " \t\n");
    len = strlen(text);
    while (len > 0 && strchr(" \t\n", text[len - 1]) != NULL)
        len--;
    return tg_arena_strndup(form->arena, text, len);
}

static bool has_control(const char *text, bool lines)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < 0x20 && !(lines && (*text == '\n' || *text == '\t'))) ||
            *text == 0x7f)
            return true;
    return false;
}

static void check_text(const struct web_field *field, const struct web_form *form,
                       struct web_value *value)
{
    bool lines = field->kind == WEB_LONG;
    int64_t most = field->most != 0 ? field->most : lines ? LONG_USUAL : TEXT_USUAL;
    int64_t len;

    if (field->kind == WEB_TEXT)
        value->text = trimmed(form, value->text);
    len = (int64_t)characters(value->text);
    if (has_control(value->text, lines))
        value->error = "control characters are not allowed here";
    else if (len > most)
        value->error = say(form, "at most %lld characters (these are %lld)", most, len);
    else if (len > 0 && len < field->least)
        value->error = say(form, "at least %lld characters (these are %lld)", field->least, len);
}

static bool is_out(const struct web_field *field, int64_t number)
{
    return (field->least != 0 || field->most != 0) &&
           (number < field->least || number > field->most);
}

static void check_integer(const struct web_field *field, const struct web_form *form,
                          struct web_value *value)
{
    char *end;
    long long number;

    value->text = trimmed(form, value->text);
    if (*value->text == '\0')
        return;
    errno = 0;
    number = strtoll(value->text, &end, 10);
    if (*end != '\0' || errno != 0 || end == value->text)
        value->error = "this is no whole number";
    else if (is_out(field, number))
        value->error = say(form, "a number from %lld to %lld", field->least, field->most);
    value->number = number;
}

static void check_usd(const struct web_field *field, const struct web_form *form,
                      struct web_value *value)
{
    value->text = trimmed(form, value->text);
    if (*value->text == '\0')
        return;
    if (!tg_usd_parse(value->text, &value->number))
        value->error = "an amount is USD in decimals, in steps of 0.000002: 12.5";
    else if (is_out(field, value->number))
        value->error = "this amount is out of bounds";
}

static void check_decimal(const struct web_field *field, const struct web_form *form,
                          struct web_value *value)
{
    size_t most = field->most != 0 ? (size_t)field->most : 10, whole, places = 0;
    const char *text;

    text = value->text = trimmed(form, value->text);
    if (*text == '\0')
        return;
    whole = strspn(text, "0123456789");
    if (text[whole] == '.')
        places = strspn(text + whole + 1, "0123456789");
    if (whole == 0 || whole > 9 || (text[whole] == '.' && places == 0) ||
        text[whole + (text[whole] == '.' ? places + 1 : 0)] != '\0')
        value->error = "this is no decimal number (2.5)";
    else if (places > most)
        value->error = say(form, "at most %lld places behind the point (these are %lld)",
                           (long long)most, (long long)places);
}

static void check_bool(struct web_value *value)
{
    static const char *const yes[] = {"1", "true", "on", "yes"}, *const no[] = {"", "0", "false",
                                                                               "off", "no"};

    for (size_t i = 0; i < TG_COUNT_OF(yes); i++)
        if (strcmp(value->text, yes[i]) == 0)
            value->number = 1;
    for (size_t i = 0; value->number == 0 && i < TG_COUNT_OF(no); i++)
        if (strcmp(value->text, no[i]) == 0)
            return;
    if (value->number == 0)
        value->error = "this is neither true nor false";
}

/* The choices of a table only: those of the moment are the handler's business. */
static bool is_choice(const struct web_field *field, const char *text)
{
    if (*text == '\0' || field->choices == NULL)
        return true;
    for (const struct web_choice *at = field->choices; at->value != NULL; at++)
        if (strcmp(at->value, text) == 0)
            return true;
    return false;
}

static void check_list(const struct web_field *field, const struct web_form *form,
                       struct web_value *value)
{
    size_t most = field->most != 0 ? (size_t)field->most : ITEMS_USUAL;
    const char **items = tg_arena_calloc(form->arena, most + 1, sizeof *items), *at = value->text;
    struct tg_cidr cidr;

    value->items = items;
    while (*at != '\0' && value->error == NULL) {
        size_t len = strcspn(at, field->kind == WEB_CIDRS ? ",\n \t" : ",\n");
        char *item = trimmed(form, tg_arena_strndup(form->arena, at, len));

        at += len + (at[len] != '\0');
        if (*item == '\0')
            continue;
        if (value->count == most)
            value->error = tg_arena_printf(form->arena, "at most %zu of them", most);
        else if (strlen(item) > ITEM_CHARS || has_control(item, false))
            value->error = "one of them is too long or holds control characters";
        else if (field->kind == WEB_CIDRS && !tg_cidr_parse(item, &cidr))
            value->error = tg_arena_printf(form->arena, "\"%.60s\" is no address and no network",
                                           item);
        else if (field->kind == WEB_SET && !is_choice(field, item))
            value->error = "one of them is none of the choices";
        else
            items[value->count++] = item;
    }
}

/* Never says what stands there. */
static void check_secrets(const struct web_field *field, const struct web_form *form,
                          struct web_value *value)
{
    size_t most = (size_t)field->most;
    const char **items = tg_arena_calloc(form->arena, most + 1, sizeof *items), *at = value->text;

    value->items = items;
    while (*at != '\0' && value->error == NULL) {
        size_t len = strcspn(at, "\n");
        char *item = trimmed(form, tg_arena_strndup(form->arena, at, len));

        at += len + (at[len] != '\0');
        if (*item == '\0')
            continue;
        if (value->count == most)
            value->error = tg_arena_printf(form->arena, "at most %zu of them", most);
        else if (strlen(item) > SECRET_BYTES || has_control(item, false))
            value->error = tg_arena_printf(
                form->arena, "number %zu is too long or holds control characters",
                value->count + 1);
        else
            items[value->count++] = item;
    }
    if (value->count == 0)
        value->text = ""; /* blank lines are nothing */
}

/* "2026-11-30T16:05" (seconds optional) or "2026-11-30" in the zone. */
static bool parse_local(const char *text, const char *zone, int64_t *ret_unix_us)
{
    struct tm parts = {.tm_isdst = -1};
    struct tg_buf unused;
    const char *end = strptime(text, "%Y-%m-%d", &parts);
    time_t seconds;

    if (end != NULL && (*end == 'T' || *end == ' ')) {
        const char *full = strptime(end + 1, "%H:%M:%S", &parts);

        end = full != NULL ? full : strptime(end + 1, "%H:%M", &parts);
    }
    if (end == NULL || *end != '\0' || parts.tm_year < 70)
        return false;
    tg_buf_init(&unused, 0);
    web_show_time(&unused, "2026-01-01T00:00:00Z", zone); /* puts the zone in force */
    tg_buf_done(&unused);
    seconds = mktime(&parts);
    *ret_unix_us = (int64_t)seconds * 1000000;
    return seconds != (time_t)-1;
}

static void check_time(const struct web_field *field, const struct web_form *form,
                       struct web_value *value)
{
    value->text = trimmed(form, value->text);
    if (*value->text == '\0' || tg_time_parse(value->text, &value->number) ||
        parse_local(value->text, form->zone, &value->number))
        return;
    value->error = field->kind == WEB_DAY ? "a day looks like 2026-11-30"
                                          : "a moment looks like 2026-11-30T16:05:00Z";
}

static void check_json(const struct web_form *form, struct web_value *value)
{
    struct tg_error err;
    const char *text;

    text = value->text = trimmed(form, value->text);
    if (*text == '\0')
        return;
    if (tg_json_check(text, strlen(text), &err) != TG_OK)
        value->error = tg_arena_strdup(form->arena, err.message);
    else if (*text != '{')
        value->error = "this is no JSON object";
}

static void check_kind(const struct web_field *field, const struct web_form *form,
                       struct web_value *value)
{
    switch (field->kind) {
    case WEB_TEXT:
    case WEB_LONG:
    case WEB_SECRET:
        check_text(field, form, value);
        break;
    case WEB_INTEGER:
        check_integer(field, form, value);
        break;
    case WEB_USD:
        check_usd(field, form, value);
        break;
    case WEB_DECIMAL:
        check_decimal(field, form, value);
        break;
    case WEB_BOOL:
        check_bool(value);
        break;
    case WEB_CHOICE:
        if (!is_choice(field, value->text))
            value->error = "this is none of the choices";
        break;
    case WEB_SET:
    case WEB_LIST:
    case WEB_CIDRS:
        check_list(field, form, value);
        break;
    case WEB_SECRETS:
        check_secrets(field, form, value);
        break;
    case WEB_TIME:
    case WEB_DAY:
        check_time(field, form, value);
        break;
    case WEB_JSON:
        check_json(form, value);
        break;
    case WEB_PAIRS:
        web_pairs_check(field, form, value);
        break;
    }
}

void web_field_check(const struct web_field *field, const struct web_form *form,
                     struct web_value *value)
{
    check_kind(field, form, value);
    if (value->error == NULL && (field->flags & WEB_REQUIRED) != 0 && *value->text == '\0')
        value->error = "this is needed";
}
