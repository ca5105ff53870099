/* Usage as an operator types it for the calculator. */
#include "common/price/price_json.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} counts[] = {
    {"input", offsetof(struct tg_usage, input)},
    {"cache_read", offsetof(struct tg_usage, cache_read)},
    {"cache_write_5m", offsetof(struct tg_usage, cache_write_5m)},
    {"cache_write_1h", offsetof(struct tg_usage, cache_write_1h)},
    {"image", offsetof(struct tg_usage, image_in)},
    {"audio_in", offsetof(struct tg_usage, audio_in)},
    {"output", offsetof(struct tg_usage, output)},
    {"reasoning", offsetof(struct tg_usage, reasoning)},
    {"audio_out", offsetof(struct tg_usage, audio_out)},
};

struct reading {
    struct tg_usage *usage;
    enum tg_class class;
    struct tg_error *err;
};

static bool refuse(struct reading *reading, const char *field, const char *problem)
{
    reading->class = tg_fail(reading->err, TG_CLASS_INVALID, "usage_invalid", "usage %s %s", field,
                             problem);
    if (reading->err != NULL)
        snprintf(reading->err->param, sizeof reading->err->param, "%s", field);
    return false;
}

static bool read_tool(void *context, const char *key, const struct tg_json *value)
{
    struct reading *reading = context;
    int64_t calls;

    if (strcmp(key, "other") == 0 && tg_json_int(value, &calls)) {
        reading->usage->tool_calls += TG_MAX(TG_MIN(calls, TG_USAGE_TOKENS_MAX), 0);
        return true;
    }
    for (int i = 0; i < TG_TOOL__COUNT; i++) {
        if (strcmp(key, tg_tool_name((enum tg_tool)i)) != 0)
            continue;
        if (!tg_json_int(value, &calls))
            return refuse(reading, key, "is no whole number");
        tg_usage_add_tool(reading->usage, (enum tg_tool)i, calls);
        return true;
    }
    return refuse(reading, key, "is no tool");
}

static bool read_semantics(struct reading *reading, const struct tg_json *value)
{
    struct tg_span word;

    if (!tg_json_string(value, &word))
        return refuse(reading, "semantics", "is no text");
    if (strcmp(word.ptr, "includes_cache") == 0)
        reading->usage->semantics = TG_USAGE_INPUT_INCLUDES_CACHE;
    else if (strcmp(word.ptr, "excludes_cache") == 0)
        reading->usage->semantics = TG_USAGE_INPUT_EXCLUDES_CACHE;
    else
        return refuse(reading, "semantics", "is neither includes_cache nor excludes_cache");
    return true;
}

static bool read_member(void *context, const char *key, const struct tg_json *value)
{
    struct reading *reading = context;

    for (size_t i = 0; i < TG_COUNT_OF(counts); i++) {
        if (strcmp(key, counts[i].name) != 0)
            continue;
        if (!tg_json_int(value, (int64_t *)((char *)reading->usage + counts[i].at)))
            return refuse(reading, key, "is no whole number");
        return true;
    }
    if (strcmp(key, "tools") == 0) {
        tg_json_each(value, read_tool, reading);
        return reading->class == TG_OK;
    }
    if (strcmp(key, "semantics") == 0)
        return read_semantics(reading, value);
    return refuse(reading, key, "is not known");
}

enum tg_class tg_usage_read(const struct tg_json *object, struct tg_usage *ret,
                            struct tg_error *err)
{
    struct tg_usage usage = {.semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
                             .source = TG_USAGE_UPSTREAM};
    struct reading reading = {&usage, TG_OK, err};

    if (tg_json_type(object) != TG_JSON_OBJECT)
        return tg_fail(err, TG_CLASS_INVALID, "usage_invalid", "usage is a JSON object");
    tg_json_each(object, read_member, &reading);
    if (reading.class == TG_OK)
        *ret = usage;
    return reading.class;
}
