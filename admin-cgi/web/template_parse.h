/* template_parse - a template's text as a list of nodes; for template.c only.
 *
 * Owns     nodes live in the arena; their texts are borrowed from the template's text.
 * Errors   TG_CLASS_CONFIG "template" with file and line.
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_TEMPLATE_PARSE_H
#define TOLLGATE_WEB_TEMPLATE_PARSE_H

#include "common/base/arena.h"
#include "common/base/error.h"

enum web_node_kind {
    WEB_NODE_TEXT,
    WEB_NODE_VALUE,
    WEB_NODE_SECTION,
    WEB_NODE_INVERTED,
    WEB_NODE_END,
    WEB_NODE_PARTIAL
};
enum web_node_form {
    WEB_FORM_PLAIN,
    WEB_FORM_URL,
    WEB_FORM_JSON,
    WEB_FORM_TIME,
    WEB_FORM_USD,
    WEB_FORM_NUM,
    WEB_FORM_SEC
};
/* How a value is made harmless. */
enum web_node_place { WEB_PLACE_HTML, WEB_PLACE_LINK, WEB_PLACE_URL };

struct web_node {
    enum web_node_kind kind;
    enum web_node_form form;
    enum web_node_place place;
    struct tg_span text; /* literal text, or the name */
    struct tg_span word; /* of {{#x=word}}; ptr NULL: none */
    size_t end;          /* of a section: the index of its end */
};

struct web_nodes {
    struct web_node *list;
    size_t count, cap;
};

enum { WEB_SECTION_DEPTH = 24 };

enum tg_class web_template_parse(struct tg_arena *arena, const char *name, struct tg_span text,
                                 struct web_nodes *ret, struct tg_error *err) must_check
    non_null(1, 2, 4);

#endif
