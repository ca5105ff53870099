/* known - credentials that this process read a moment ago, so that the door asks nobody.
 *
 * What is in here may be out of date: it may only ever say yes, and only to a request that goes on
 * to the deposit, where the live books compare the authver (every change of a token or its user
 * raises it). Whatever it would refuse is read again first. An entry lives 10 s, and a large one is
 * not kept.
 *
 * Owns     what was taken is borrowed until it is released, even when it was dropped meanwhile.
 * Threads  any (locked in stripes).  Blocks  no.
 */
#ifndef TOLLGATE_CREDENTIAL_KNOWN_H
#define TOLLGATE_CREDENTIAL_KNOWN_H

#include "common/store/credential.h"

struct tg_known;

struct tg_known *tg_known_new(void) must_check;
void tg_known_free(struct tg_known *known); /* NULL is fine; everything was released */

/* NULL: not known, or too long ago. */
const struct tg_credential *tg_known_take(struct tg_known *known, const char *hmac_hex,
                                          int64_t now_us) must_check non_null(1, 2);
void tg_known_release(const struct tg_credential *credential); /* NULL is fine */

/* Keeps a copy; the one of the same token, or the oldest of its few places, goes. */
void tg_known_keep(struct tg_known *known, const char *hmac_hex,
                   const struct tg_credential *credential, int64_t now_us) non_null(1, 2, 3);
void tg_known_drop(struct tg_known *known, const char *hmac_hex) non_null(1, 2);

#endif
