/* form - a credential as the JSON text (an array) that the cache keeps. "null" stands for: no such
 * token.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_CREDENTIAL_FORM_H
#define TOLLGATE_CREDENTIAL_FORM_H

#include "common/base/buf.h"
#include "common/store/credential.h"

/* NULL writes "null". */
void tg_credential_write(const struct tg_credential *credential, struct tg_buf *out) non_null(2);
/* *ret NULL: no such token. Errors: TG_CLASS_INVALID when the text is not of this form (another
 * version of the program wrote it). Owns: the arena. */
enum tg_class tg_credential_read(const char *text, size_t len, struct tg_arena *arena,
                                 struct tg_credential **ret, struct tg_error *err) must_check
    non_null(1, 3, 4);

#endif
