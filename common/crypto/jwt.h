/* jwt - the short proof of a console session (the only user of libjwt): HS256, and nothing else.
 *
 * It says who and which session; whether both still stand is read from their rows.
 *
 * Threads  any.  Blocks  no.  Source  RFC 7519, RFC 8725.
 */
#ifndef TOLLGATE_CRYPTO_JWT_H
#define TOLLGATE_CRYPTO_JWT_H

#include "common/crypto/crypto.h"

struct tg_jwt {
    int64_t user_id, session_id, authver;
    int64_t expires_unix_s;
};
enum tg_class tg_jwt_make(const uint8_t key[TG_KEY_BYTES], const struct tg_jwt *claims,
                          struct tg_buf *ret, struct tg_error *err) must_check non_null(2, 3);
/* False for a wrong signature, another algorithm ("none" too), another issuer or audience, a
 * missing claim, and once it has expired. */
bool tg_jwt_read(const uint8_t key[TG_KEY_BYTES], const char *text, int64_t now_unix_s,
                 struct tg_jwt *ret) must_check non_null(2, 4);

#endif
