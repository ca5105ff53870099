/* params - names and values of a query, a form or a cookie header. Bounded; pure.
 *
 * Owns     everything lives in the arena given.
 * Errors   TG_CLASS_INVALID "bad_encoding" (not UTF-8, NUL, half an escape), "too_many_fields".
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_PARAMS_H
#define TOLLGATE_WEB_PARAMS_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/json/json.h"

enum { WEB_PARAMS_MOST = 200 };

struct web_param {
    const char *name, *value; /* UTF-8 without NUL */
};
struct web_params {
    struct web_param *list;
    size_t count;
};

/* application/x-www-form-urlencoded; line ends become "\n". */
enum tg_class web_params_parse(struct tg_arena *arena, const char *text, size_t len,
                               struct web_params *ret, struct tg_error *err) must_check
    non_null(1, 4);
/* The members of a JSON object, each as the text a form would send: numbers as they stand, true as
 * "true", an array of texts line by line, other arrays and objects as JSON. Null is no value. */
enum tg_class web_params_json(struct tg_arena *arena, const char *text, size_t len,
                              struct web_params *ret, struct tg_error *err) must_check
    non_null(1, 4);
/* A Cookie header; pairs that are no cookies are left out. */
void web_params_cookies(struct tg_arena *arena, const char *header, struct web_params *ret)
    non_null(1, 3);

/* The first of that name, NULL when absent. */
const char *web_param(const struct web_params *params, const char *name) must_check
    non_null(1, 2);
/* "a=1&b=2" without the names in <but> (NULL at its end). */
void web_params_query(const struct web_params *params, const char *const *but,
                      struct tg_buf *out) non_null(1, 2, 3);

#endif
