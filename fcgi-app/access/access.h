/* access - may this credential be used, now, from this address? Pure part of the access stage.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_ACCESS_ACCESS_H
#define TOLLGATE_ACCESS_ACCESS_H

#include "fcgi-app/request.h"

struct tg_visit {
    const struct tg_address *address;
    int64_t unix_us;
    int64_t pinned_channel_id;
};
/* Checks in the order of POLICIES: the token itself, then who and from where. The text of an error
 * says nothing about other tokens or about what is stored. */
enum tg_class tg_access_check(const struct tg_credential *credential, const struct tg_visit *visit,
                              struct tg_error *err) must_check non_null(1, 2);
/* Does the token's model list let <model> through? */
bool tg_access_model_allowed(const struct tg_credential *credential, const char *model) must_check
    non_null(1, 2);

#endif
