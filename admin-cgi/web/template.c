#include "admin-cgi/web/template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin-cgi/web/escape.h"
#include "admin-cgi/web/show.h"
#include "admin-cgi/web/template_parse.h"

enum { FILE_BYTES_MOST = 256 * 1024, CONTEXTS_MOST = 64, PARTIALS_MOST = 8, NAME_MOST = 64 };

struct stored {
    const char *name;
    struct web_nodes nodes;
    struct stored *next;
};

struct web_templates {
    struct tg_arena *arena;
    const char *folder;
    struct stored *first;
};

struct web_templates *web_templates_new(struct tg_arena *arena, const char *folder)
{
    struct web_templates *set = tg_arena_calloc(arena, 1, sizeof *set);

    set->arena = arena;
    set->folder = tg_arena_strdup(arena, folder);
    return set;
}

const char *web_templates_folder(const struct web_templates *set)
{
    return set->folder;
}

static enum tg_class add(struct web_templates *set, const char *name, struct tg_span text,
                         struct tg_error *err)
{
    struct stored *stored = tg_arena_calloc(set->arena, 1, sizeof *stored);
    enum tg_class class;

    stored->name = tg_arena_strdup(set->arena, name);
    class = web_template_parse(set->arena, stored->name, text, &stored->nodes, err);
    if (class != TG_OK)
        return class;
    stored->next = set->first;
    set->first = stored;
    return TG_OK;
}

enum tg_class web_templates_add(struct web_templates *set, const char *name, const char *text,
                                struct tg_error *err)
{
    const char *copy = tg_arena_strdup(set->arena, text);

    return add(set, name, (struct tg_span){copy, strlen(copy)}, err);
}

/* Names come from our own tables and templates; this is the second lock on the door. */
static bool is_file_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    return len > 0 && len <= NAME_MOST && name[len] == '\0';
}

static enum tg_class read_file(struct web_templates *set, const char *name, struct tg_span *ret,
                               struct tg_error *err)
{
    const char *path = tg_arena_printf(set->arena, "%s/%s.html", set->folder, name);
    char *text;
    size_t len;
    FILE *file;

    if (!is_file_name(name))
        return tg_fail(err, TG_CLASS_CONFIG, "template", "\"%s\" is no name of a template", name);
    file = fopen(path, "re");
    if (file == NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "template", "%s: %s", path, strerror(errno));
    text = tg_arena_alloc(set->arena, FILE_BYTES_MOST);
    len = fread(text, 1, FILE_BYTES_MOST, file);
    fclose(file);
    if (len == FILE_BYTES_MOST)
        return tg_fail(err, TG_CLASS_CONFIG, "template", "%s: too long", path);
    *ret = (struct tg_span){text, len};
    return TG_OK;
}

static enum tg_class find(struct web_templates *set, const char *name, const struct stored **ret,
                          struct tg_error *err)
{
    struct tg_span text;
    enum tg_class class;

    for (*ret = set->first; *ret != NULL; *ret = (*ret)->next)
        if (strcmp((*ret)->name, name) == 0)
            return TG_OK;
    class = read_file(set, name, &text, err);
    if (class == TG_OK)
        class = add(set, name, text, err);
    *ret = set->first;
    return class;
}

enum tg_class web_templates_check(struct web_templates *set, const char *name,
                                  struct tg_error *err)
{
    const struct stored *stored;

    return find(set, name, &stored, err);
}

/* --- Rendering --- */

struct renderer {
    struct web_templates *set;
    const struct web_rendering *rendering;
    const struct tg_json *contexts[CONTEXTS_MOST];
    size_t depth;
    int partials;
    struct tg_buf *out;
    struct tg_buf scratch;
    struct tg_error *err;
};

static const struct tg_json *member(const struct tg_json *value, const char *name, size_t len)
{
    char key[NAME_MOST + 1];
    const struct tg_json *found = NULL;

    if (len > NAME_MOST)
        return NULL;
    memcpy(key, name, len);
    key[len] = '\0';
    (void)tg_json_get(value, key, &found); /* null is a value: it hides what is further out */
    return found;
}

/* The first part from the innermost context that has it, the rest from there. */
static const struct tg_json *look_up(const struct renderer *renderer, struct tg_span name)
{
    const char *end = name.ptr + name.len, *at = name.ptr;
    const struct tg_json *value = NULL;
    size_t len;

    if (name.len == 1 && name.ptr[0] == '.')
        return renderer->contexts[renderer->depth - 1];
    len = strcspn(at, ". }=");
    len = TG_MIN(len, (size_t)(end - at));
    for (size_t i = renderer->depth; i > 0 && value == NULL; i--)
        value = member(renderer->contexts[i - 1], at, len);
    for (at += len; value != NULL && at < end; at += len) {
        at++;
        len = strcspn(at, ". }=");
        len = TG_MIN(len, (size_t)(end - at));
        value = member(value, at, len);
    }
    return value;
}

static bool is_true(const struct tg_json *value)
{
    struct tg_span text;
    int64_t number;

    if (value == NULL)
        return false;
    switch (tg_json_type(value)) {
    case TG_JSON_NULL:
    case TG_JSON_FALSE:
        return false;
    case TG_JSON_NUMBER:
        return !tg_json_int(value, &number) || number != 0;
    case TG_JSON_STRING:
        return tg_json_string(value, &text) && text.len > 0;
    case TG_JSON_ARRAY:
        return tg_json_array_len(value) > 0;
    default:
        return true;
    }
}

/* The value as text, unescaped, in the scratch buffer. */
static struct tg_span text_of(struct renderer *renderer, const struct tg_json *value,
                              enum web_node_form form)
{
    struct tg_buf *scratch = &renderer->scratch;
    struct tg_span text;
    int64_t number;

    tg_buf_reset(scratch);
    if (value == NULL || tg_json_type(value) == TG_JSON_NULL) {
        if (form == WEB_FORM_JSON)
            tg_buf_str(scratch, "null");
    } else if (form != WEB_FORM_JSON && tg_json_string(value, &text)) {
        if (form == WEB_FORM_TIME)
            web_show_time(scratch, text.ptr, renderer->rendering->zone);
        else
            tg_buf_add(scratch, text.ptr, text.len);
    } else if (tg_json_int(value, &number) && form == WEB_FORM_USD) {
        web_show_usd(scratch, number);
    } else if (tg_json_int(value, &number) && form == WEB_FORM_NUM) {
        web_show_number(scratch, number);
    } else if (tg_json_int(value, &number) && form == WEB_FORM_SEC) {
        web_show_seconds(scratch, number);
    } else if (form == WEB_FORM_JSON || (tg_json_type(value) != TG_JSON_OBJECT &&
                                         tg_json_type(value) != TG_JSON_ARRAY)) {
        tg_json_print(value, scratch);
    }
    return (struct tg_span){tg_buf_text(scratch), scratch->len};
}

static void put_value(struct renderer *renderer, const struct web_node *node)
{
    struct tg_span text = text_of(renderer, look_up(renderer, node->text), node->form);
    struct tg_buf *out = renderer->out;

    if (node->form == WEB_FORM_URL || node->place == WEB_PLACE_URL)
        web_escape_url(out, text.ptr, text.len);
    else if (node->place == WEB_PLACE_LINK)
        web_escape_link(out, text.ptr, text.len);
    else
        web_escape_html(out, text.ptr, text.len);
}

static enum tg_class render_nodes(struct renderer *renderer, const struct web_nodes *nodes,
                                  size_t from, size_t to);

static enum tg_class render_with(struct renderer *renderer, const struct web_nodes *nodes,
                                 size_t section, const struct tg_json *context)
{
    enum tg_class class;

    if (renderer->depth == CONTEXTS_MOST)
        return tg_fail(renderer->err, TG_CLASS_CONFIG, "template", "sections go too deep");
    renderer->contexts[renderer->depth++] = context;
    class = render_nodes(renderer, nodes, section + 1, nodes->list[section].end);
    renderer->depth--;
    return class;
}

static enum tg_class render_section(struct renderer *renderer, const struct web_nodes *nodes,
                                    size_t section)
{
    const struct web_node *node = &nodes->list[section];
    const struct tg_json *value = look_up(renderer, node->text);
    bool wanted = node->kind == WEB_NODE_SECTION;
    enum tg_class class = TG_OK;

    if (node->word.ptr != NULL) {
        struct tg_span text = text_of(renderer, value, WEB_FORM_PLAIN);
        bool equal = text.len == node->word.len &&
                     (text.len == 0 || memcmp(text.ptr, node->word.ptr, text.len) == 0);

        return equal == wanted ? render_nodes(renderer, nodes, section + 1, node->end) : TG_OK;
    }
    if (is_true(value) != wanted)
        return TG_OK;
    if (!wanted)
        return render_nodes(renderer, nodes, section + 1, node->end);
    if (tg_json_type(value) != TG_JSON_ARRAY)
        return render_with(renderer, nodes, section, value);
    for (size_t i = 0; i < tg_json_array_len(value) && class == TG_OK; i++)
        class = render_with(renderer, nodes, section, tg_json_array_at(value, i));
    return class;
}

static enum tg_class render_template(struct renderer *renderer, const char *name)
{
    const struct stored *stored;
    enum tg_class class = find(renderer->set, name, &stored, renderer->err);

    if (class != TG_OK)
        return class;
    if (renderer->partials == PARTIALS_MOST)
        return tg_fail(renderer->err, TG_CLASS_CONFIG, "template", "%s.html: partials within "
                       "partials go too deep", name);
    renderer->partials++;
    class = render_nodes(renderer, &stored->nodes, 0, stored->nodes.count);
    renderer->partials--;
    return class;
}

static enum tg_class render_partial(struct renderer *renderer, struct tg_span name)
{
    const char *text = tg_arena_strndup(renderer->set->arena, name.ptr, name.len);

    if (strcmp(text, "content") == 0 && renderer->rendering->layout != NULL)
        text = renderer->rendering->page;
    return render_template(renderer, text);
}

static enum tg_class render_nodes(struct renderer *renderer, const struct web_nodes *nodes,
                                  size_t from, size_t to)
{
    enum tg_class class = TG_OK;

    for (size_t i = from; i < to && class == TG_OK; i++) {
        const struct web_node *node = &nodes->list[i];

        switch (node->kind) {
        case WEB_NODE_TEXT:
            tg_buf_add(renderer->out, node->text.ptr, node->text.len);
            break;
        case WEB_NODE_VALUE:
            put_value(renderer, node);
            break;
        case WEB_NODE_PARTIAL:
            class = render_partial(renderer, node->text);
            break;
        case WEB_NODE_SECTION:
        case WEB_NODE_INVERTED:
            class = render_section(renderer, nodes, i);
            i = node->end;
            break;
        case WEB_NODE_END:
            break;
        }
    }
    return class;
}

enum tg_class web_template_render(struct web_templates *set, const struct web_rendering *rendering,
                                  struct tg_buf *out, struct tg_error *err)
{
    struct renderer renderer = {.set = set,
                                .rendering = rendering,
                                .contexts = {rendering->frame, rendering->data},
                                .depth = 2,
                                .out = out,
                                .err = err};
    enum tg_class class;

    tg_buf_init(&renderer.scratch, 0);
    class = render_template(&renderer,
                            rendering->layout != NULL ? rendering->layout : rendering->page);
    tg_buf_done(&renderer.scratch);
    if (class == TG_OK && out->failed)
        return tg_fail(err, TG_CLASS_INTERNAL, "page_too_long", "the page is too long");
    return class;
}
