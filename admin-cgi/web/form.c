#include "admin-cgi/web/form.h"

#include <string.h>

#include "common/base/money.h"

void web_form_init(struct web_form *form, const struct web_form_def *def, struct tg_arena *arena,
                   const char *zone)
{
    *form = (struct web_form){.def = def, .arena = arena, .zone = zone};
    if (def == NULL)
        return;
    form->values = tg_arena_calloc(arena, def->count, sizeof *form->values);
    for (size_t i = 0; i < def->count; i++)
        form->values[i].text = "";
}

static ptrdiff_t find(const struct web_form *form, const char *name)
{
    for (size_t i = 0; form->def != NULL && i < form->def->count; i++)
        if (strcmp(form->def->fields[i].name, name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

struct web_value *web_form_value(const struct web_form *form, const char *name)
{
    ptrdiff_t i = find(form, name);

    tg_assert(i >= 0);
    return &form->values[i];
}

void web_form_refuse(struct web_form *form, const char *name, const char *why)
{
    struct web_value *value = web_form_value(form, name);

    if (value->error == NULL)
        value->error = tg_arena_strdup(form->arena, why);
    form->failed = true;
}

static bool is_among(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool may_repeat(enum web_kind kind)
{
    return kind == WEB_SET || kind == WEB_LIST || kind == WEB_CIDRS;
}

enum tg_class web_form_read(struct web_form *form, const struct web_params *params,
                            const char *const *extra, bool json, struct tg_error *err)
{
    form->read = true;
    for (size_t i = 0; i < params->count; i++) {
        const struct web_param *param = &params->list[i];
        ptrdiff_t at = find(form, param->name);

        if (at < 0 && is_among(extra, param->name))
            continue;
        if (at < 0)
            return tg_fail(err, TG_CLASS_INVALID, "unknown_field", "there is no field \"%.60s\"",
                           param->name);
        if (form->values[at].given && may_repeat(form->def->fields[at].kind)) {
            form->values[at].text = tg_arena_printf(form->arena, "%s\n%s", form->values[at].text,
                                                    param->value);
            continue;
        }
        if (form->values[at].given)
            return tg_fail(err, TG_CLASS_INVALID, "unknown_field", "the field \"%.60s\" twice",
                           param->name);
        form->values[at].given = true;
        form->values[at].text = param->value;
    }
    for (size_t i = 0; form->def != NULL && i < form->def->count; i++) {
        /* A box that is not ticked is not sent. */
        if (form->def->fields[i].kind == WEB_BOOL && !json && !form->def->in_query)
            form->values[i].given = true;
        if (json && form->def->partial && !form->values[i].given)
            continue;
        web_field_check(&form->def->fields[i], form, &form->values[i]);
        form->failed = form->failed || form->values[i].error != NULL;
    }
    return TG_OK;
}

/* --- As JSON --- */

static const char *kind_name(enum web_kind kind)
{
    static const char *const names[] = {
        [WEB_TEXT] = "text",   [WEB_LONG] = "long",       [WEB_INTEGER] = "integer",
        [WEB_USD] = "usd",     [WEB_DECIMAL] = "decimal", [WEB_BOOL] = "bool",
        [WEB_SET] = "set",     [WEB_CHOICE] = "choice",   [WEB_LIST] = "list",
        [WEB_CIDRS] = "cidrs", [WEB_TIME] = "time",       [WEB_DAY] = "day",
        [WEB_JSON] = "json",   [WEB_SECRET] = "secret",   [WEB_SECRETS] = "secrets",
        [WEB_PAIRS] = "pairs"};

    return names[kind];
}

/* What the browser's field is. */
static const char *input_type(enum web_kind kind)
{
    switch (kind) {
    case WEB_INTEGER:
        return "number";
    case WEB_TIME:
        return "datetime-local";
    case WEB_DAY:
        return "date";
    case WEB_SECRET:
        return "password";
    case WEB_LONG:
    case WEB_SECRETS:
    case WEB_LIST:
    case WEB_CIDRS:
    case WEB_JSON:
    case WEB_PAIRS:
    case WEB_BOOL:
    case WEB_CHOICE:
    case WEB_SET:
        return "";
    default:
        return "text";
    }
}

/* Is it the text, or one of its lines? */
static bool is_line(const char *text, const char *line)
{
    size_t len;

    for (;; text += len + 1) {
        len = strcspn(text, "\n");
        if (strlen(line) == len && memcmp(text, line, len) == 0)
            return true;
        if (text[len] == '\0')
            return false;
    }
}

static void write_choice(const struct web_choice *choice, const struct web_value *value,
                         struct tg_json_writer *out)
{
    tg_json_begin_object(out);
    tg_json_put_str(out, "value", choice->value);
    tg_json_put_str(out, "label", choice->label);
    tg_json_put_bool(out, "selected", is_line(value->text, choice->value));
    tg_json_end_object(out);
}

static void write_choices(const struct web_field *field, const struct web_value *value,
                          struct tg_json_writer *out)
{
    tg_json_key(out, "choices");
    tg_json_begin_array(out);
    for (const struct web_choice *at = field->choices; at != NULL && at->value != NULL; at++)
        write_choice(at, value, out);
    for (size_t i = 0; i < value->choice_count; i++)
        write_choice(&value->choices[i], value, out);
    tg_json_end_array(out);
}

static void write_field(const struct web_field *field, const struct web_value *value,
                        struct tg_json_writer *out)
{
    enum web_kind kind = field->kind;
    bool fixed = (field->flags & WEB_FIXED) != 0 && value->given && value->error == NULL;

    tg_json_begin_object(out);
    tg_json_put_str(out, "name", field->name);
    tg_json_put_str(out, "label", field->label);
    tg_json_put_str(out, "kind", kind_name(kind));
    tg_json_put_str(out, "input", input_type(kind));
    tg_json_put_str(out, "value", kind == WEB_SECRET || kind == WEB_SECRETS ? "" : value->text);
    tg_json_put_str(out, "error", value->error);
    tg_json_put_str(out, "help", field->help);
    tg_json_put_bool(out, "required", (field->flags & WEB_REQUIRED) != 0);
    tg_json_put_bool(out, "fixed", fixed);
    tg_json_put_bool(out, "checkbox", kind == WEB_BOOL);
    tg_json_put_bool(out, "checked", kind == WEB_BOOL && value->number != 0);
    tg_json_put_bool(out, "select", kind == WEB_CHOICE);
    tg_json_put_bool(out, "set", kind == WEB_SET);
    tg_json_put_bool(out, "lines", kind == WEB_LONG || kind == WEB_LIST || kind == WEB_CIDRS ||
                                       kind == WEB_JSON || kind == WEB_PAIRS ||
                                       kind == WEB_SECRETS);
    if (kind == WEB_CHOICE || kind == WEB_SET)
        write_choices(field, value, out);
    tg_json_end_object(out);
}

void web_form_write(const struct web_form *form, struct tg_json_writer *out)
{
    const struct web_form_def *def = form->def;

    tg_json_put_bool(out, "failed", form->failed);
    tg_json_put_str(out, "submit", def->submit != NULL ? def->submit : "Save");
    tg_json_key(out, "fields");
    tg_json_begin_array(out);
    for (size_t i = 0; i < def->count; i++)
        write_field(&def->fields[i], &form->values[i], out);
    tg_json_end_array(out);
    tg_json_key(out, "by");
    tg_json_begin_object(out);
    for (size_t i = 0; i < def->count; i++) {
        tg_json_key(out, def->fields[i].name);
        write_field(&def->fields[i], &form->values[i], out);
    }
    tg_json_end_object(out);
}

void web_form_write_errors(const struct web_form *form, struct tg_json_writer *out)
{
    tg_json_begin_object(out);
    for (size_t i = 0; form->def != NULL && i < form->def->count; i++)
        if (form->values[i].error != NULL)
            tg_json_put_str(out, form->def->fields[i].name, form->values[i].error);
    tg_json_end_object(out);
}
