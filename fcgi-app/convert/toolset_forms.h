/* toolset_forms - a set of tools from and to the words of each protocol.
 *
 * For toolset.c and the files toolset_*.c alone.
 *
 * Errors, Owns, Threads  as toolset.h.
 */
#ifndef TOLLGATE_CONVERT_TOOLSET_FORMS_H
#define TOLLGATE_CONVERT_TOOLSET_FORMS_H

#include "fcgi-app/convert/toolset.h"

/* A custom tool takes raw text: elsewhere it is a function with one string. Sets the description,
 * and the schema as <key>. */
void tg_toolset_wrap_custom(const struct tg_convert *context, const struct tg_tool_form *form,
                            struct tg_json *tool, const char *key) non_null(1, 2, 3, 4);

/* toolset_chat.c, toolset_messages.c, toolset_responses.c, toolset_gemini.c */
enum tg_class tg_toolset_from_chat(const struct tg_convert *context, const struct tg_json *request,
                                   struct tg_toolset *set, struct tg_error *err) must_check
    non_null(1, 2, 3);
enum tg_class tg_toolset_from_messages(const struct tg_convert *context,
                                       const struct tg_json *request, struct tg_toolset *set,
                                       struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_toolset_from_responses(const struct tg_convert *context,
                                        const struct tg_json *request, struct tg_toolset *set,
                                        struct tg_error *err) must_check non_null(1, 2, 3);
void tg_toolset_to_responses(const struct tg_convert *context, const struct tg_toolset *set,
                             struct tg_json *request) non_null(1, 2, 3);
enum tg_class tg_toolset_from_gemini(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_toolset *set,
                                     struct tg_error *err) must_check non_null(1, 2, 3);
void tg_toolset_to_chat(const struct tg_convert *context, const struct tg_toolset *set,
                        struct tg_json *request) non_null(1, 2, 3);
void tg_toolset_to_messages(const struct tg_convert *context, const struct tg_toolset *set,
                            struct tg_json *request) non_null(1, 2, 3);
void tg_toolset_to_gemini(const struct tg_convert *context, const struct tg_toolset *set,
                          struct tg_json *request) non_null(1, 2, 3);
struct tg_tool_form *tg_toolset_add(const struct tg_convert *context, struct tg_toolset *set,
                                    struct tg_span name) must_check non_null(1, 2);
void tg_toolset_add_builtin(const struct tg_convert *context, struct tg_toolset *set,
                            const struct tg_json *tool) non_null(1, 2, 3);
void tg_toolset_add_name(const struct tg_convert *context, struct tg_toolset *set,
                         struct tg_span name) non_null(1, 2);
/* Is the tool one of those that may be used? */
bool tg_toolset_allows(const struct tg_toolset *set, const struct tg_tool_form *tool) must_check
    non_null(1, 2);

#endif
