/* page - what a handler of an area has at hand, and what it may do.
 *
 * A handler reads its form, asks the stores, and writes members into the open object `out`: that
 * document is the answer of the API and what the template renders. It returns a class; a failure
 * with `err` set becomes an error page or an error document, and when err.param names a field of
 * the form, that field's error.
 *
 *     enum tg_class page_groups_list(struct web_page *page)
 *     {
 *         struct tg_page at;
 *         enum tg_class class = web_list_page(page, &at);
 *         …
 *         return tg_list_groups(page->main_db, web_text(page, "search"), &at, &page->out,
 *                               &page->err);
 *     }
 *
 * Rows of the routes' table name the handler, its form and its template; the prototype comes from
 * that table, so a handler without a row does not compile.
 *
 * Owns     everything is the frame's; `arena` lives as long as the request.
 * Threads  one.  Blocks  as the stores do.
 */
#ifndef TOLLGATE_WEB_PAGE_H
#define TOLLGATE_WEB_PAGE_H

#include "admin-cgi/access/who.h"
#include "admin-cgi/web/form.h"
#include "admin-cgi/web/request.h"
#include "admin-cgi/web/site.h"
#include "common/credential/apply.h"
#include "common/store/list.h"

struct web_route;

struct web_page {
    struct web_site *site;
    struct web_request *request;
    const struct web_route *route;
    struct tg_arena *arena;
    int64_t id;       /* {id} of the path */
    const char *name; /* {name} of the path, decoded */
    struct access_who who;
    struct tg_actor actor; /* for the stores' audit rows */
    struct web_form form;
    struct tg_buf doc;
    struct tg_json_writer out;
    struct tg_db *main_db, *log_db; /* after web_main, web_log */
    const char *store;              /* the store asked last, for the 503 page */
    int status;                     /* 200; a handler may say 201 */
    const char *location;           /* where a browser goes after a POST, behind the base */
    const char *flash;              /* told there once */
    const char *template_name;      /* the route's; a handler may choose another (shown once) */
    struct tg_buf head;             /* further header lines (Set-Cookie) */
    bool streams;                   /* web_stream_begin was called */
    struct tg_error err;
};
typedef enum tg_class page_fn(struct web_page *page);

/* --- Stores: connected on first use. Failures are TG_CLASS_DOWN with err set. --- */
enum tg_class web_main(struct web_page *page) must_check non_null(1);
enum tg_class web_log(struct web_page *page) must_check non_null(1);
enum tg_class web_kv(struct web_page *page) must_check non_null(1);
/* Main, Redis and the ledger, for changes of users, tokens and money. */
enum tg_class web_apply(struct web_page *page, struct tg_apply *ret) must_check non_null(1, 2);
/* True: <class> says that the master key was changed since this program began; its file has been
 * read again, and what was to be sealed may be tried again. */
bool web_other_secrets(struct web_page *page, enum tg_class class) must_check non_null(1);
/* Tells the workers what was changed ("channels", …); a remark to the person when Redis is away. */
void web_tell(struct web_page *page, const char *what) non_null(1, 2);

/* --- The form: values that were sent; "" or 0 without. --- */
bool web_given(const struct web_page *page, const char *name) must_check non_null(1, 2);
const char *web_text(const struct web_page *page, const char *name) must_check non_null(1, 2);
/* NULL when it was not sent: "leave it as it is" for the stores' changes. */
const char *web_text_or_null(const struct web_page *page, const char *name) must_check
    non_null(1, 2);
int64_t web_number(const struct web_page *page, const char *name) must_check non_null(1, 2);
const struct web_value *web_value(const struct web_page *page, const char *name) must_check
    non_null(1, 2);
/* What a form shows at first, where it is not the document's member of the field's name. */
void web_put_text(struct web_page *page, const char *name, const char *text) non_null(1, 2);
void web_put_number(struct web_page *page, const char *name, int64_t number) non_null(1, 2);
/* A further choice of this time (a group that exists). */
void web_put_choice(struct web_page *page, const char *name, const char *value,
                    const char *label) non_null(1, 2, 3);
/* Refuses a field; returns TG_CLASS_INVALID. */
enum tg_class web_refuse(struct web_page *page, const char *name, const char *why) must_check
    non_null(1, 2, 3);

/* --- Lists: limit, sort and after of the query. --- */
enum tg_class web_list_page(struct web_page *page, struct tg_page *ret) must_check non_null(1, 2);

/* --- Answers --- */
bool web_may(const struct web_page *page, enum access_permission permission) must_check
    non_null(1);
/* A member that a template puts first into href: the address of a page ("groups.cgi/%s"). */
void web_put_link(struct web_page *page, const char *key, const char *path, ...) printf_like(3, 4)
    non_null(1, 2, 3);
/* A browser goes to <location> (printf, behind the base: "groups.cgi/%s") and reads <flash>. */
void web_go(struct web_page *page, const char *flash, const char *location, ...)
    printf_like(3, 4) non_null(1, 2, 3);
/* An answer that is no document (CSV), sent as it grows. */
void web_stream_begin(struct web_page *page, const char *type, const char *file_name)
    non_null(1, 2, 3);
void web_stream(struct web_page *page, const void *bytes, size_t len) non_null(1);

#endif
