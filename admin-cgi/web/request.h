/* request - one request as the web server tells it, read and bounded.
 *
 * `/…/users.cgi/7/edit` and `/api/users/7/edit` are the same thing: area "users", path "/7/edit".
 * Nothing of it is trusted: what decides about access comes from access/.
 *
 * Owns     everything lives in the arena.
 * Errors   TG_CLASS_INVALID "bad_path", "bad_host", "bad_encoding", "invalid_json" …;
 *          TG_CLASS_TOO_LARGE "request_too_large" (1 MiB); TG_CLASS_GONE.
 * Threads  one.  Blocks  on the body.
 */
#ifndef TOLLGATE_WEB_REQUEST_H
#define TOLLGATE_WEB_REQUEST_H

#include "admin-cgi/web/gate.h"
#include "admin-cgi/web/params.h"
#include "common/conf/units.h"

enum { WEB_BODY_BYTES_MOST = 1 << 20 };
enum web_method { WEB_GET, WEB_POST, WEB_OTHER_METHOD };
enum web_body { WEB_BODY_NONE, WEB_BODY_FORM, WEB_BODY_JSON, WEB_BODY_OTHER };

struct web_request {
    struct tg_arena *arena;
    struct web_gate *gate;
    enum web_method method;
    bool head;         /* HEAD: as GET, without the body */
    const char *area;  /* "users" */
    const char *path;  /* "" or "/7/edit" */
    const char *base;  /* where the programs are: "/tollgate/" */
    const char *host;  /* of the Host header, checked for its form */
    const char *address;
    const char *device; /* User-Agent */
    const char *bearer; /* of Authorization: Bearer; NULL without */
    bool tls;
    bool wants_json;
    enum web_body body_kind;
    struct web_params query, cookies, body;
};

struct web_request_rules {
    const struct tg_cidr *proxies; /* whose X-Forwarded-… count */
    size_t proxy_count;
    const char *hosts; /* names with commas between; "": any */
};
/* <ret> is usable for an error page after a failure too. */
enum tg_class web_request_read(struct web_gate *gate, struct tg_arena *arena,
                               const struct web_request_rules *rules, struct web_request *ret,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* Does the request come from a page of this site? (Origin and Sec-Fetch-Site, where sent.)
 * <least>: also false when neither header is there. */
bool web_request_same_origin(const struct web_request *request, bool least) must_check non_null(1);

#endif
