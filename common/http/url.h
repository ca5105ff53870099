/* url - may this URL be a channel's base URL? Asked when it is saved; every address is checked
 * again when a socket is opened (http.h), because a name may lead anywhere by then.
 *
 * http(s)://HOST[:PORT][/PATH], printable ASCII, without account, query and fragment. A host of
 * digits is read as resolvers read it: 2130706433, 0x7f.1, 0177.0.0.1 and [::ffff:7f00:1] are all
 * 127.0.0.1. "localhost" is one as well; other names are not resolved here.
 *
 * Errors   TG_CLASS_INVALID "invalid_url", "address_refused"
 * Source   reference S1.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_HTTP_URL_H
#define TOLLGATE_HTTP_URL_H

#include "common/base/error.h"
#include "common/conf/units.h"

/* Its form, and that it names no address which is refused whatever an operator allows. */
enum tg_class tg_url_check(const char *url, struct tg_error *err) must_check non_null(1);
/* And that the address it names, if it names one, is public or in <allow>. */
enum tg_class tg_url_check_reach(const char *url, const struct tg_cidr *allow, size_t allow_count,
                                 struct tg_error *err) must_check non_null(1);

#endif
