/* pages - the handlers of all areas: one short file per area, one row per handler in routes.def.
 *
 * The prototypes are made from that table: a handler without a row does not compile.
 */
#ifndef TOLLGATE_PAGES_PAGES_H
#define TOLLGATE_PAGES_PAGES_H

#include "admin-cgi/access/routes.h"

#pragma GCC diagnostic error "-Wmissing-prototypes"
#pragma GCC diagnostic error "-Wunused-function"

extern const struct web_form_def NO_FORM;

#define AREA(area, label, permission)
#define ROUTE(area, method, pattern, permission, scope, owner, handler, form, page)                \
    page_fn handler;                                                                               \
    extern const struct web_form_def form;
#include "admin-cgi/access/routes.def"
#undef AREA
#undef ROUTE

#endif
