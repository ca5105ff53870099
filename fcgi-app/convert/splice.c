#include "fcgi-app/convert/splice.h"

#include "common/json/writer.h"
#include "fcgi-app/convert/value.h"

#include <stdio.h>
#include <string.h>

/* Replace the <len> bytes at <at> by <text>. */
struct edit {
    size_t at, len;
    struct tg_span text;
};

enum { EDITS_MAX = 2 };

struct edits {
    struct tg_span body;
    struct tg_arena *arena;
    struct edit list[EDITS_MAX];
    size_t count;
};

/* Kept in the order of their places; at equal places the later call comes first. */
static void add_edit(struct edits *edits, size_t at, size_t len, struct tg_span text)
{
    size_t i = edits->count++;

    tg_assert(edits->count <= EDITS_MAX);
    for (; i > 0 && edits->list[i - 1].at >= at; i--)
        edits->list[i] = edits->list[i - 1];
    edits->list[i] = (struct edit){at, len, text};
}

static void replace(struct edits *edits, const struct tg_value *old, struct tg_span text)
{
    add_edit(edits, (size_t)(old->text.ptr - edits->body.ptr), old->text.len, text);
}

/* A member in front of the others of <object>, and of those inserted before. */
static void insert(struct edits *edits, const struct tg_value *object, struct tg_span member)
{
    bool has_more = edits->count > 0 || tg_value_is_filled(object);
    char *text = tg_arena_alloc(edits->arena, member.len + 1);

    memcpy(text, member.ptr, member.len);
    text[member.len] = ',';
    add_edit(edits, (size_t)(object->text.ptr + 1 - edits->body.ptr), 0,
             (struct tg_span){text, member.len + has_more});
}

static struct tg_span arena_copy(struct tg_arena *arena, struct tg_buf *buf)
{
    struct tg_span copy = {tg_arena_strndup(arena, tg_buf_text(buf), buf->len), buf->len};

    tg_buf_done(buf);
    return copy;
}

static void write_string(struct tg_buf *out, const char *text)
{
    struct tg_json_writer writer;

    tg_json_writer_init(&writer, out);
    tg_json_write_str(&writer, text);
}

static void edit_model(struct edits *edits, const struct tg_value *root, const char *model)
{
    struct tg_value old;
    struct tg_buf text;
    bool is_there = tg_value_at(root->text, "model", &old);

    tg_buf_init(&text, 0);
    if (!is_there)
        tg_buf_str(&text, "\"model\":");
    write_string(&text, model);
    if (is_there)
        replace(edits, &old, arena_copy(edits->arena, &text));
    else
        insert(edits, root, arena_copy(edits->arena, &text));
}

#define SPAN(literal) ((struct tg_span){literal, sizeof(literal) - 1})

static enum tg_class edit_stream_options(struct edits *edits, const struct tg_value *root,
                                         struct tg_error *err)
{
    struct tg_value options, asked;

    if (!tg_value_at(root->text, "stream_options", &options)) {
        insert(edits, root, SPAN("\"stream_options\":{\"include_usage\":true}"));
    } else if (options.type == TG_JSON_NULL) {
        replace(edits, &options, SPAN("{\"include_usage\":true}"));
    } else if (options.type != TG_JSON_OBJECT) {
        tg_fail(err, TG_CLASS_INVALID, "invalid_request", "stream_options must be an object");
        if (err != NULL)
            snprintf(err->param, sizeof(err->param), "stream_options");
        return TG_CLASS_INVALID;
    } else if (!tg_value_at(options.text, "include_usage", &asked)) {
        insert(edits, &options, SPAN("\"include_usage\":true"));
    } else if (asked.type != TG_JSON_TRUE) {
        replace(edits, &asked, SPAN("true"));
    }
    return TG_OK;
}

static void add_piece(struct tg_pieces *pieces, struct tg_span *spans, struct tg_span piece)
{
    if (piece.len == 0)
        return;
    spans[pieces->count++] = piece;
    pieces->len += piece.len;
}

static struct tg_pieces apply(const struct edits *edits)
{
    struct tg_span *spans =
        tg_arena_calloc(edits->arena, 2 * edits->count + 1, sizeof(struct tg_span));
    struct tg_pieces pieces = {.spans = spans};
    size_t at = 0;

    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->list[i];

        add_piece(&pieces, spans, (struct tg_span){edits->body.ptr + at, edit->at - at});
        add_piece(&pieces, spans, edit->text);
        at = edit->at + edit->len;
    }
    add_piece(&pieces, spans, (struct tg_span){edits->body.ptr + at, edits->body.len - at});
    return pieces;
}

enum tg_class tg_splice_chat(struct tg_span body, const struct tg_splice *what,
                             struct tg_arena *arena, struct tg_pieces *ret, struct tg_error *err)
{
    struct edits edits = {.body = body, .arena = arena};
    enum tg_class class = TG_OK;
    struct tg_value root;

    if (!tg_value_at(body, "", &root) || root.type != TG_JSON_OBJECT)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_request", "the body must be an object");
    if (what->ask_usage) /* first: insert() then knows whether another member follows */
        class = edit_stream_options(&edits, &root, err);
    if (class != TG_OK)
        return class;
    if (what->model != NULL)
        edit_model(&edits, &root, what->model);
    *ret = apply(&edits);
    return TG_OK;
}

void tg_chat_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
{
    struct tg_value old;
    size_t at;

    if (!tg_value_at(text, "model", &old) || old.type != TG_JSON_STRING) {
        tg_buf_add(out, text.ptr, text.len);
        return;
    }
    at = (size_t)(old.text.ptr - text.ptr);
    tg_buf_add(out, text.ptr, at);
    write_string(out, model);
    at += old.text.len;
    tg_buf_add(out, text.ptr + at, text.len - at);
}
