/* pat - the text of a personal access token: "tgp_" and 43 base62 characters (256 bits).
 *
 * Only its SHA-256 is stored.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_ACCESS_PAT_H
#define TOLLGATE_ACCESS_PAT_H

#include "common/crypto/crypto.h"

enum { ACCESS_PAT_TEXT = 48 };

void access_pat_new(char text[ACCESS_PAT_TEXT], char fingerprint[TG_HMAC_HEX]) non_null(1, 2);
/* The shape only; then its fingerprint. */
bool access_pat_read(const char *text, char fingerprint[TG_HMAC_HEX]) must_check non_null(1, 2);

#endif
