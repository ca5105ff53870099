#include "admin-cgi/web/template_parse.h"

#include <string.h>

#include "admin-cgi/web/html_place.h"

/* An open section: its node, and where in the HTML it began. */
struct open_section {
    size_t node;
    struct web_html_place place;
};

struct parser {
    struct tg_arena *arena;
    const char *name;
    const char *at, *end;
    int line;
    struct web_html_place place;
    struct web_nodes nodes;
    struct open_section open[WEB_SECTION_DEPTH];
    size_t depth;
    struct tg_error *err;
};

static enum tg_class bad(const struct parser *parser, const char *why)
{
    return tg_fail(parser->err, TG_CLASS_CONFIG, "template", "%s.html:%d: %s", parser->name,
                   parser->line, why);
}

static struct web_node *add_node(struct parser *parser, enum web_node_kind kind,
                                 struct tg_span text)
{
    struct web_nodes *nodes = &parser->nodes;

    if (nodes->count == nodes->cap) {
        size_t cap = nodes->cap == 0 ? 64 : 2 * nodes->cap;
        struct web_node *list = tg_arena_calloc(parser->arena, cap, sizeof *list);

        if (nodes->count > 0)
            memcpy(list, nodes->list, nodes->count * sizeof *list);
        nodes->list = list;
        nodes->cap = cap;
    }
    nodes->list[nodes->count] = (struct web_node){.kind = kind, .text = text};
    return &nodes->list[nodes->count++];
}

static enum tg_class take_text(struct parser *parser, size_t len)
{
    if (len == 0)
        return TG_OK;
    for (size_t i = 0; i < len; i++) {
        if (!web_html_step(&parser->place, parser->at[i]))
            return bad(parser, "HTML that a template may not hold");
        if (parser->at[i] == '\n')
            parser->line++;
    }
    add_node(parser, WEB_NODE_TEXT, (struct tg_span){parser->at, len});
    parser->at += len;
    return TG_OK;
}

static bool is_name(struct tg_span name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";

    if (name.len == 0)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (memchr(allowed, name.ptr[i], sizeof allowed - 1) == NULL)
            return false;
    return true;
}

static bool same(struct tg_span a, struct tg_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static struct tg_span trim(struct tg_span text)
{
    while (text.len > 0 && text.ptr[0] == ' ') {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* "x=word" in two. */
static struct tg_span split_word(struct tg_span *name)
{
    const char *equals = memchr(name->ptr, '=', name->len);
    struct tg_span word = {0};

    if (equals == NULL)
        return word;
    word.ptr = equals + 1;
    word.len = (size_t)(name->ptr + name->len - word.ptr);
    name->len = (size_t)(equals - name->ptr);
    return word;
}

static enum tg_class begin_section(struct parser *parser, enum web_node_kind kind,
                                   struct tg_span name)
{
    struct tg_span word = split_word(&name);

    if (!is_name(name))
        return bad(parser, "a section needs a name");
    if (parser->depth == WEB_SECTION_DEPTH)
        return bad(parser, "sections are nested too deeply");
    parser->open[parser->depth++] =
        (struct open_section){.node = parser->nodes.count, .place = parser->place};
    add_node(parser, kind, name)->word = word;
    return TG_OK;
}

static enum tg_class end_section(struct parser *parser, struct tg_span name)
{
    struct tg_span word = split_word(&name);
    struct open_section *open;
    struct web_node *begin;

    if (parser->depth == 0)
        return bad(parser, "a section ends that has not begun");
    open = &parser->open[--parser->depth];
    begin = &parser->nodes.list[open->node];
    if (!same(begin->text, name) || !same(begin->word, word))
        return bad(parser, "another section is open");
    if (!web_html_join(&parser->place, &open->place))
        return bad(parser, "a section ends at another place of the HTML than it began");
    begin->end = parser->nodes.count;
    add_node(parser, WEB_NODE_END, name)->end = open->node;
    return TG_OK;
}

static enum tg_class add_partial(struct parser *parser, struct tg_span name)
{
    if (!is_name(name))
        return bad(parser, "a partial needs a name");
    if (parser->place.state != WEB_HTML_TEXT || parser->place.raw)
        return bad(parser, "a partial stands in text only");
    add_node(parser, WEB_NODE_PARTIAL, name);
    return TG_OK;
}

static enum web_node_form take_form(struct tg_span *name)
{
    static const struct {
        const char *word;
        enum web_node_form form;
    } forms[] = {{"url ", WEB_FORM_URL},
                 {"json ", WEB_FORM_JSON},
                 {"time ", WEB_FORM_TIME},
                 {"usd ", WEB_FORM_USD},
                 {"num ", WEB_FORM_NUM},
                 {"sec ", WEB_FORM_SEC}};

    for (size_t i = 0; i < TG_COUNT_OF(forms); i++) {
        size_t len = strlen(forms[i].word);

        if (name->len > len && memcmp(name->ptr, forms[i].word, len) == 0) {
            name->ptr += len;
            name->len -= len;
            *name = trim(*name);
            return forms[i].form;
        }
    }
    return WEB_FORM_PLAIN;
}

static enum web_node_place place_of(enum web_html_state state)
{
    switch (state) {
    case WEB_HTML_URL_START:
        return WEB_PLACE_LINK;
    case WEB_HTML_URL:
        return WEB_PLACE_URL;
    default:
        return WEB_PLACE_HTML;
    }
}

static enum tg_class add_value(struct parser *parser, struct tg_span name)
{
    enum web_node_form form = take_form(&name);
    struct web_node *node;

    if (!is_name(name))
        return bad(parser, "this is no name");
    if (!web_html_may_vary(&parser->place))
        return bad(parser, "a value may not stand here");
    node = add_node(parser, WEB_NODE_VALUE, name);
    node->form = form;
    node->place = place_of(parser->place.state);
    web_html_varied(&parser->place);
    return TG_OK;
}

static enum tg_class take_tag(struct parser *parser, struct tg_span inside)
{
    struct tg_span rest = {inside.ptr + 1, inside.len - 1};

    switch (inside.ptr[0]) {
    case '#':
        return begin_section(parser, WEB_NODE_SECTION, trim(rest));
    case '^':
        return begin_section(parser, WEB_NODE_INVERTED, trim(rest));
    case '/':
        return end_section(parser, trim(rest));
    case '>':
        return add_partial(parser, trim(rest));
    case '!':
        return TG_OK;
    default:
        return add_value(parser, trim(inside));
    }
}

static enum tg_class take_braces(struct parser *parser)
{
    size_t left = (size_t)(parser->end - parser->at);
    const char *close = memmem(parser->at, left, "}}", 2);
    struct tg_span inside;
    enum tg_class class;

    if (close == NULL)
        return bad(parser, "\"{{\" without \"}}\"");
    inside = (struct tg_span){parser->at + 2, (size_t)(close - parser->at - 2)};
    if (inside.len == 0)
        return bad(parser, "\"{{}}\" is empty");
    class = take_tag(parser, inside);
    for (size_t i = 0; i < inside.len; i++)
        parser->line += inside.ptr[i] == '\n';
    parser->at = close + 2;
    return class;
}

enum tg_class web_template_parse(struct tg_arena *arena, const char *name, struct tg_span text,
                                 struct web_nodes *ret, struct tg_error *err)
{
    struct parser parser = {.arena = arena,
                            .name = name,
                            .at = text.ptr,
                            .end = text.ptr + text.len,
                            .line = 1,
                            .err = err};
    enum tg_class class = TG_OK;

    while (class == TG_OK && parser.at < parser.end) {
        size_t left = (size_t)(parser.end - parser.at);
        const char *open = memmem(parser.at, left, "{{", 2);

        class = take_text(&parser, open == NULL ? left : (size_t)(open - parser.at));
        if (class == TG_OK && open != NULL)
            class = take_braces(&parser);
    }
    if (class != TG_OK)
        return class;
    if (parser.depth > 0)
        return bad(&parser, "a section has no end");
    if (parser.place.state != WEB_HTML_TEXT || parser.place.raw)
        return bad(&parser, "the HTML is cut off");
    *ret = parser.nodes;
    return TG_OK;
}
