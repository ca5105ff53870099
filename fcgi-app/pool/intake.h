/* intake - the accept stage: what the web server said about a request, brought into one form.
 *
 * The path is taken from REQUEST_URI (PATH_INFO and SCRIPT_NAME differ between web servers). The
 * client's address is REMOTE_ADDR, or what trusted proxies say in X-Forwarded-For, read from the
 * right. No header is trusted for identity.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_POOL_INTAKE_H
#define TOLLGATE_POOL_INTAKE_H

#include "fcgi-app/request.h"

/* Fills the accept group; <req> holds worker, arena and fcgi, all else is zero. */
void tg_intake(struct tg_request *req) non_null(1);

/* Decodes %XX once; "%00" and broken escapes stay as they are. Owns: the arena. */
char *tg_intake_decode(struct tg_arena *arena, const char *text, size_t len) must_check
    non_null(1, 2);

struct tg_intake_address {
    const char *remote_addr, *forwarded_for; /* NULL: absent */
    const struct tg_cidr *proxies;
    size_t proxy_count;
};
/* The client's address as text, "" when it cannot be known. Pure. Owns: the arena. */
const char *tg_intake_address(struct tg_arena *arena, const struct tg_intake_address *from,
                              struct tg_address *ret) must_check non_null(1, 2, 3);

#endif
