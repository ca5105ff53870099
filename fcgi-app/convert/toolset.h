/* toolset - a request's tools, kept apart while the rest of it is converted.
 *
 * Tools lose most when they go through two dialects of JSON: they are taken out of the client's
 * request before the first step and written in the upstream's own form behind the last. History
 * and answers use the same names.
 *
 * Owns     the set lives in the context's arena and borrows from the client's request.
 * Errors   TG_CLASS_INVALID "invalid_request" with param for a malformed tool.
 * Threads  as convert.h.  Source  PROTOCOLS E1, B0.11, B0.12.
 */
#ifndef TOLLGATE_CONVERT_TOOLSET_H
#define TOLLGATE_CONVERT_TOOLSET_H

#include "fcgi-app/convert/convert.h"

enum tg_tool_kind { TG_TOOL_FUNCTION, TG_TOOL_CUSTOM };

struct tg_tool_form {
    enum tg_tool_kind kind;
    const char *name;                    /* the client's */
    const char *wire_name;               /* the upstream's */
    const char *space;                   /* namespace before the "__" of name; NULL: none */
    const char *description;             /* NULL: none */
    const struct tg_json *schema;        /* NULL: none */
    const struct tg_json *cache_control; /* NULL: none */
    const struct tg_json *grammar;       /* of a custom tool; NULL: none */
    int strict;                          /* 0, 1, or -1: not said */
};

/* A tool that the provider runs by itself. */
struct tg_tool_builtin {
    const char *type;            /* the client's word: "web_search_20250305" */
    const struct tg_json *options;
};

/* Tools of several providers that do the same. */
enum tg_tool_family {
    TG_FAMILY_OTHER, /* its provider's alone */
    TG_FAMILY_WEB_SEARCH,
    TG_FAMILY_WEB_FETCH,
    TG_FAMILY_CODE
};

enum tg_tool_mode {
    TG_TOOLS_ABSENT, /* nothing was said: the model decides */
    TG_TOOLS_AUTO,
    TG_TOOLS_NONE,
    TG_TOOLS_REQUIRED,
    TG_TOOLS_NAMED,          /* the one in names */
    TG_TOOLS_SUBSET_AUTO,    /* of those in names */
    TG_TOOLS_SUBSET_REQUIRED
};

struct tg_toolset {
    struct tg_tool_form *tools;
    size_t tool_count;
    struct tg_tool_builtin *builtins;
    size_t builtin_count;
    enum tg_tool_mode mode;
    const char **names; /* the client's */
    size_t name_count;
    int parallel; /* 0, 1, or -1: not said */
    const struct tg_json *web_search; /* Chat's web_search_options; NULL: none */
};

enum tg_class tg_toolset_extract(const struct tg_convert *context, enum tg_protocol from,
                                 const struct tg_json *request, struct tg_toolset **ret,
                                 struct tg_error *err) must_check non_null(1, 3, 4);
/* Writes it into the upstream's request. */
void tg_toolset_attach(const struct tg_convert *context, enum tg_protocol to,
                       const struct tg_toolset *set, struct tg_json *request) non_null(1, 3, 4);

/* The name as the upstream knows it, for history; made up for a tool that is not in the set. */
const char *tg_toolset_wire_name(const struct tg_convert *context, struct tg_span name) must_check
    non_null(1);
/* The same for history that has come as far as the hub: what a client of another protocol calls its
 * tools was rewritten before. */
const char *tg_toolset_hub_name(const struct tg_convert *context, struct tg_span name) must_check
    non_null(1);
enum tg_tool_family tg_tool_family_of(const char *type) must_check non_null(1);
/* What <to> calls the tool that the upstream calls <wire_name>: the step that speaks to the client
 * gives the client's own name back, steps before it leave the name alone. */
struct tg_span tg_toolset_name(const struct tg_convert *context, enum tg_protocol to,
                               struct tg_span wire_name) must_check non_null(1);
const struct tg_tool_form *tg_toolset_find(const struct tg_toolset *set, const char *name)
    must_check non_null(1, 2);

/* A schema with an object at its root, as every target wants it. The caller's. */
struct tg_json *tg_schema_clean(const struct tg_json *schema) must_check;
/* Does it fit OpenAI's strict mode: closed, and every property required? */
bool tg_schema_is_strict(const struct tg_json *schema) must_check;

#endif
