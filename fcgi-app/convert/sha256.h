/* sha256 - SHA-256 for names and ids that must come out the same every time.
 *
 * For the converters alone, which link libc and json-c only; what guards secrets uses
 * common/crypto.
 *
 * Pure.  Threads  any.  Source  FIPS 180-4.
 */
#ifndef TOLLGATE_CONVERT_SHA256_H
#define TOLLGATE_CONVERT_SHA256_H

#include "common/base/base.h"

enum { TG_SHA256_HEX = 65 };

/* Lower-case hex, NUL-terminated. */
void tg_name_hash(struct tg_span bytes, char ret[TG_SHA256_HEX]) non_null(2);

#endif
