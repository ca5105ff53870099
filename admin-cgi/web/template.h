/* template - HTML from a file and one JSON document; escaped by where a value stands.
 *
 *   {{name}} {{a.b}} {{.}}     the value, from the innermost section outwards; absent is empty
 *   {{url x}} {{json x}}       percent-encoded; the JSON text of the value (for data- attributes)
 *   {{time x}} {{usd x}} {{num x}} {{sec x}}   of show.h: a moment in the user's zone, quota as
 *                              USD, 12,345, microseconds as seconds
 *   {{#x}}…{{/x}}              for each element; once for an object, a text, a number that is not
 *                              0, true
 *   {{^x}}…{{/x}}              when {{#x}} would do nothing
 *   {{#x=word}}…{{/x=word}}    when x is that text; {{^x=word}} when not
 *   {{> name}}                 another template in this place (in text, not inside a tag)
 *   {{> content}}              in the layout: the page
 *   {{! remark}}
 *
 * The parser follows the HTML: a value in text or in a double-quoted attribute is escaped, one that
 * begins a URL attribute (href, src, action, formaction) must be a safe link, one inside a URL is
 * percent-encoded. A value anywhere else (attribute names, unquoted values, on…=, style=, script)
 * is an error of the template, as are inline scripts and styles: the Content-Security-Policy would
 * refuse them anyhow. There is no way to write a value unescaped.
 *
 * Owns     everything lives in the arena given.
 * Errors   TG_CLASS_CONFIG "template" with file and line.
 * Threads  one owner.  Blocks  on reading files.
 */
#ifndef TOLLGATE_WEB_TEMPLATE_H
#define TOLLGATE_WEB_TEMPLATE_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/json/json.h"

/* A folder of templates, each read once. */
struct web_templates;
struct web_templates *web_templates_new(struct tg_arena *arena, const char *folder) must_check
    non_null(1, 2);
const char *web_templates_folder(const struct web_templates *set) must_check non_null(1);
/* A template of the caller's own text, for tests; it stands in front of the folder's. */
enum tg_class web_templates_add(struct web_templates *set, const char *name, const char *text,
                                struct tg_error *err) must_check non_null(1, 2, 3);
/* Reads and checks one; <name> without ".html". */
enum tg_class web_templates_check(struct web_templates *set, const char *name,
                                  struct tg_error *err) must_check non_null(1, 2);

struct web_rendering {
    const char *layout;           /* template that holds {{> content}}; NULL: the page alone */
    const char *page;
    const struct tg_json *frame;  /* looked at last */
    const struct tg_json *data;   /* looked at first */
    const char *zone;             /* name of a time zone, "UTC" */
};
enum tg_class web_template_render(struct web_templates *set, const struct web_rendering *rendering,
                                  struct tg_buf *out, struct tg_error *err) must_check
    non_null(1, 2, 3);

#endif
