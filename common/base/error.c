#include "common/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const class_names[TG_CLASS__COUNT] = {
    [TG_OK] = "ok",
    [TG_CLASS_AUTH] = "auth",
    [TG_CLASS_FORBIDDEN] = "forbidden",
    [TG_CLASS_FUNDS] = "funds",
    [TG_CLASS_INVALID] = "invalid",
    [TG_CLASS_NOT_FOUND] = "not_found",
    [TG_CLASS_METHOD] = "method",
    [TG_CLASS_TOO_LARGE] = "too_large",
    [TG_CLASS_HEADERS] = "headers",
    [TG_CLASS_LIMIT] = "limit",
    [TG_CLASS_UNPRICED] = "unpriced",
    [TG_CLASS_EXHAUSTED] = "exhausted",
    [TG_CLASS_ACCOUNT] = "account",
    [TG_CLASS_ABSENT] = "absent",
    [TG_CLASS_NO_CHANNEL] = "no_channel",
    [TG_CLASS_UPSTREAM] = "upstream",
    [TG_CLASS_TIMEOUT] = "timeout",
    [TG_CLASS_OVERLOAD] = "overload",
    [TG_CLASS_INTERNAL] = "internal",
    [TG_CLASS_TRANSPORT] = "transport",
    [TG_CLASS_GONE] = "gone",
    [TG_CLASS_DOWN] = "down",
    [TG_CLASS_UNPROCESSABLE] = "unprocessable",
    [TG_CLASS_CONFLICT] = "conflict",
    [TG_CLASS_CONFIG] = "config",
};

#undef tg_fail /* of the analyzer */
enum tg_class tg_fail(struct tg_error *err, enum tg_class class, const char *code,
                      const char *format, ...)
{
    va_list args;

    tg_assert(class != TG_OK);
    if (err == NULL)
        return class;
    memset(err, 0, sizeof *err);
    err->class = class;
    snprintf(err->code, sizeof err->code, "%s", code);
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return class;
}

const char *tg_class_name(enum tg_class class)
{
    tg_assert(class < TG_CLASS__COUNT);
    return class_names[class];
}
