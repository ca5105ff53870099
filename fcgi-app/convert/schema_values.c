/* Values and bounds of a schema in the small language that all of Gemini's models take (PROTOCOLS
 * B0.10). */
#include "fcgi-app/convert/schema_values.h"

#include "fcgi-app/convert/gemini_hub.h"

#include <ctype.h>
#include <string.h>

enum { TYPE_MOST = 16 };

/* --- words ---------------------------------------------------------------------------------- */

/* What cannot be said in the language is said to the model. */
static void say(struct tg_json *made, const char *before, const struct tg_json *value,
                const char *behind)
{
    struct tg_span text = tg_hub_span(made, "description");
    struct tg_buf said;

    tg_buf_init(&said, 0);
    tg_buf_add(&said, text.ptr, text.len);
    tg_buf_printf(&said, "%s%s", text.len > 0 ? " " : "", before);
    tg_json_print(value, &said);
    tg_buf_str(&said, behind);
    tg_json_set_span(made, "description", (struct tg_span){said.data, said.len});
    tg_buf_done(&said);
}

void tg_schema_set_type(struct tg_json *made, struct tg_span type)
{
    char text[TYPE_MOST];

    if (type.len >= sizeof text)
        return;
    for (size_t i = 0; i < type.len; i++)
        text[i] = (char)toupper((unsigned char)type.ptr[i]);
    tg_json_set_span(made, "type", (struct tg_span){text, type.len});
}

void tg_schema_set_nullable(struct tg_schema_losses *losses, struct tg_json *made)
{
    tg_json_set_bool(made, "nullable", true);
    losses->rewritten = true;
}

/* --- values --------------------------------------------------------------------------------- */

static void clean_const(struct tg_schema_losses *losses, const struct tg_json *value,
                        struct tg_json *made)
{
    struct tg_json *list;
    struct tg_span text;

    losses->rewritten = true;
    if (!tg_json_string(value, &text) || text.len == 0) {
        say(made, "must be ", value, "");
        losses->lossy = true;
        return;
    }
    list = tg_json_new_array();
    tg_json_push(list, tg_json_copy(value));
    tg_json_set_str(made, "type", "STRING");
    tg_json_set(made, "enum", list);
}

static bool holds(const struct tg_json *list, struct tg_span text)
{
    struct tg_span other;

    for (size_t i = 0; i < tg_json_array_len(list); i++)
        if (tg_json_string(tg_json_array_at(list, i), &other) && other.len == text.len &&
            memcmp(other.ptr, text.ptr, text.len) == 0)
            return true;
    return false;
}

/* Gemini lists strings alone. */
static void clean_enum(struct tg_schema_losses *losses, const struct tg_json *values,
                       struct tg_json *made)
{
    struct tg_json *list = tg_json_new_array();
    bool others = false;

    for (size_t i = 0; i < tg_json_array_len(values); i++) {
        const struct tg_json *value = tg_json_array_at(values, i);
        struct tg_span text;

        if (tg_json_type(value) == TG_JSON_NULL)
            tg_schema_set_nullable(losses, made);
        else if (!tg_json_string(value, &text))
            others = true;
        else if (text.len > 0 && !holds(list, text))
            tg_json_push(list, tg_json_copy(value));
        else
            losses->rewritten = true;
    }
    if (others) {
        say(made, "one of ", values, "");
        losses->lossy = true;
    } else if (tg_json_array_len(list) > 0) {
        if (!tg_hub_is(made, "type", "STRING"))
            tg_json_set_str(made, "type", "STRING");
        tg_json_set(made, "enum", list);
        return;
    }
    tg_json_free(list);
}

static void clean_format(struct tg_schema_losses *losses, const struct tg_json *value,
                         struct tg_json *made)
{
    static const char *const kept[][2] = {{"STRING", "enum"},    {"STRING", "date-time"},
                                          {"NUMBER", "float"},   {"NUMBER", "double"},
                                          {"INTEGER", "int32"},  {"INTEGER", "int64"}};
    struct tg_span format;

    if (!tg_json_string(value, &format))
        return;
    for (size_t i = 0; i < TG_COUNT_OF(kept); i++)
        if (tg_hub_is(made, "type", kept[i][0]) && tg_span_is(format, kept[i][1])) {
            tg_json_set_span(made, "format", format);
            return;
        }
    say(made, "(format: ", value, ")");
    losses->rewritten = true;
}

/* Above 0 is 1 at least, for whole numbers. */
static void clean_exclusive(struct tg_schema_losses *losses, const struct tg_json *schema,
                            struct tg_json *made)
{
    static const struct {
        const char *from, *to;
        int step;
    } rows[] = {{"exclusiveMinimum", "minimum", 1}, {"exclusiveMaximum", "maximum", -1}};
    const struct tg_json *value;
    int64_t number;

    for (size_t i = 0; i < TG_COUNT_OF(rows); i++) {
        if (tg_json_get(schema, rows[i].from, &value) != TG_JSON_GOT ||
            tg_json_type(value) != TG_JSON_NUMBER)
            continue;
        losses->lossy = true;
        if (tg_hub_is(made, "type", "INTEGER") && tg_json_int(value, &number) &&
            number != (rows[i].step > 0 ? INT64_MAX : INT64_MIN))
            tg_json_set_int(made, rows[i].to, number + rows[i].step);
        else
            tg_json_set(made, rows[i].to, tg_json_copy(value));
    }
}

static void clean_examples(struct tg_schema_losses *losses, const struct tg_json *schema,
                           struct tg_json *made)
{
    const struct tg_json *examples;

    if (tg_json_get_array(schema, "examples", &examples) != TG_JSON_GOT ||
        tg_json_array_len(examples) == 0)
        return;
    tg_json_set(made, "example", tg_json_copy(tg_json_array_at(examples, 0)));
    losses->rewritten = true;
}

void tg_schema_values(struct tg_schema_losses *losses, const struct tg_json *schema,
                      struct tg_json *made)
{
    const struct tg_json *value;

    if (tg_json_get(schema, "const", &value) == TG_JSON_GOT)
        clean_const(losses, value, made);
    if (tg_json_get_array(schema, "enum", &value) == TG_JSON_GOT)
        clean_enum(losses, value, made);
    if (tg_json_get(schema, "format", &value) == TG_JSON_GOT)
        clean_format(losses, value, made);
    clean_exclusive(losses, schema, made);
    clean_examples(losses, schema, made);
}
