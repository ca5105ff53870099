/* Pairs of texts: "a = b", one a line, as people write them; a JSON object as programs do. */
#include "admin-cgi/web/form.h"

#include <string.h>

enum { PAIRS_USUAL = 500, PART_CHARS = 512 };

struct pairs {
    const struct web_form *form;
    struct web_value *value;
    const char **items;
    size_t most;
};

static void fail(struct pairs *pairs, const char *what, const char *text)
{
    pairs->value->error = tg_arena_printf(pairs->form->arena, "\"%.80s\" %s", text, what);
}

static char *trimmed(const struct pairs *pairs, const char *text, size_t len)
{
    while (len > 0 && strchr(" \t", *text) != NULL)
        text++, len--;
    while (len > 0 && strchr(" \t", text[len - 1]) != NULL)
        len--;
    return tg_arena_strndup(pairs->form->arena, text, len);
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

static void add(struct pairs *pairs, const char *left, const char *right)
{
    struct web_value *value = pairs->value;

    if (strlen(left) > PART_CHARS || strlen(right) > PART_CHARS || has_control(left) ||
        has_control(right))
        fail(pairs, "is too long, or holds control characters", left);
    else if (value->count == pairs->most)
        value->error = tg_arena_printf(pairs->form->arena, "at most %zu of them", pairs->most);
    for (size_t i = 0; i < value->count && value->error == NULL; i++)
        if (strcmp(pairs->items[2 * i], left) == 0)
            fail(pairs, "is there twice", left);
    if (value->error != NULL)
        return;
    pairs->items[2 * value->count] = left;
    pairs->items[2 * value->count + 1] = right;
    value->count++;
}

static bool add_member(void *context, const char *key, const struct tg_json *member)
{
    struct pairs *pairs = context;
    struct tg_span text;

    if (!tg_json_string(member, &text) || strlen(text.ptr) != text.len)
        fail(pairs, "is no text", key);
    else
        add(pairs, tg_arena_strdup(pairs->form->arena, key),
            tg_arena_strndup(pairs->form->arena, text.ptr, text.len));
    return pairs->value->error == NULL;
}

static void read_json(struct pairs *pairs, const char *text)
{
    struct tg_json *root = NULL;
    struct tg_error err;

    if (tg_json_parse(text, strlen(text), &root, &err) != TG_OK)
        pairs->value->error = tg_arena_strdup(pairs->form->arena, err.message);
    else
        tg_json_each(root, add_member, pairs);
    tg_json_free(root);
}

static void read_line(struct pairs *pairs, const char *line, size_t len)
{
    const char *equals = memchr(line, '=', len);
    char *left = trimmed(pairs, line, equals != NULL ? (size_t)(equals - line) : len), *right;

    if (equals == NULL && *left == '\0')
        return;
    right = equals == NULL
                ? left
                : trimmed(pairs, equals + 1, len - (size_t)(equals - line) - 1);
    if (equals == NULL || *left == '\0' || *right == '\0')
        fail(pairs, "is not written like a = b", trimmed(pairs, line, len));
    else
        add(pairs, left, right);
}

void web_pairs_check(const struct web_field *field, const struct web_form *form,
                     struct web_value *value)
{
    size_t most = field->most != 0 ? (size_t)field->most : PAIRS_USUAL;
    struct pairs pairs = {.form = form, .value = value, .most = most};
    const char *at = value->text + strspn(value->text, " \t\n");

    pairs.items = tg_arena_calloc(form->arena, 2 * most + 1, sizeof *pairs.items);
    value->items = pairs.items;
    if (*at == '{') {
        read_json(&pairs, at);
        return;
    }
    while (*at != '\0' && value->error == NULL) {
        size_t len = strcspn(at, "\n");

        read_line(&pairs, at, len);
        at += len + (at[len] != '\0');
    }
}

const char *web_pairs_json(const struct web_form *form, const struct web_value *value)
{
    struct tg_json_writer out;
    struct tg_buf buf;
    const char *text;

    if (value->count == 0)
        return "";
    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    for (size_t i = 0; i < value->count; i++)
        tg_json_put_str(&out, value->items[2 * i], value->items[2 * i + 1]);
    tg_json_end_object(&out);
    text = tg_arena_strdup(form->arena, tg_buf_text(&buf));
    tg_buf_done(&buf);
    return text;
}
