/* routes - the one table that says what the console answers, and to whom. Fail-closed.
 *
 * A request that matches no row is refused. The prototypes of all handlers are made from the rows
 * (a handler that has no row does not compile), and the matrix of the access tests too.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_ACCESS_ROUTES_H
#define TOLLGATE_ACCESS_ROUTES_H

#include "admin-cgi/web/page.h"

/* Whose must the object {id} be, when the caller has not the permission for everybody's? */
enum access_owner { ACCESS_ANYBODYS, ACCESS_OWN_TOKEN, ACCESS_OWN_SESSION, ACCESS_OWN_PAT };

struct web_route {
    const char *area;
    enum web_method method;
    const char *pattern; /* "", "/new", "/{id}/edit", "/{name}" */
    enum access_permission permission;
    const char *scope; /* for tokens; NULL: for sessions only; "*": any token */
    enum access_owner owner;
    page_fn *handler;
    const char *handler_name;
    const struct web_form_def *form; /* NULL: none */
    const char *template_name;       /* NULL: a browser is sent on, or gets no page */
};

extern const struct web_route web_routes[];
extern const size_t web_route_count;

/* The row, and the values of its path. Errors: TG_CLASS_NOT_FOUND "no_route";
 * TG_CLASS_METHOD "method_not_allowed" when only another method is there. */
enum tg_class web_route_find(const struct web_request *request, const struct web_route **ret,
                             int64_t *ret_id, const char **ret_name, struct tg_error *err)
    must_check non_null(1, 2, 3, 4, 5);

/* All rows: [{"area", "method", "pattern", "permission", "role", "scope", "owner", …}]. */
void access_write_routes(struct tg_json_writer *out) non_null(1);

#endif
