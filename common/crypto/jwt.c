#include "common/crypto/jwt.h"

#include <errno.h>
#include <jwt.h>
#include <stdlib.h>
#include <string.h>

static const char issuer[] = "tollgate", audience[] = "console";

enum { TEXT_BYTES_MOST = 1024 };

/* Zero, or the first error number of libjwt. */
static int fill(jwt_t *jwt, const uint8_t key[TG_KEY_BYTES], const struct tg_jwt *claims)
{
    int failed = jwt_add_grant(jwt, "iss", issuer);

    if (failed == 0)
        failed = jwt_add_grant(jwt, "aud", audience);
    if (failed == 0)
        failed = jwt_add_grant_int(jwt, "uid", claims->user_id);
    if (failed == 0)
        failed = jwt_add_grant_int(jwt, "sid", claims->session_id);
    if (failed == 0)
        failed = jwt_add_grant_int(jwt, "ver", claims->authver);
    if (failed == 0)
        failed = jwt_add_grant_int(jwt, "exp", claims->expires_unix_s);
    if (failed == 0)
        failed = jwt_set_alg(jwt, JWT_ALG_HS256, key, TG_KEY_BYTES);
    return failed;
}

enum tg_class tg_jwt_make(const uint8_t key[TG_KEY_BYTES], const struct tg_jwt *claims,
                          struct tg_buf *ret, struct tg_error *err)
{
    jwt_t *jwt = NULL;
    char *text = NULL;

    if (jwt_new(&jwt) == 0 && fill(jwt, key, claims) == 0)
        text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (text == NULL)
        return tg_fail(err, TG_CLASS_INTERNAL, "jwt", "a session's proof cannot be made");
    tg_buf_str(ret, text);
    free(text);
    return TG_OK;
}

static bool is_text(jwt_t *jwt, const char *name, const char *value)
{
    const char *text = jwt_get_grant(jwt, name);

    return text != NULL && strcmp(text, value) == 0;
}

static bool take_int(jwt_t *jwt, const char *name, int64_t *ret)
{
    errno = 0;
    *ret = jwt_get_grant_int(jwt, name);
    return errno == 0 && *ret > 0;
}

bool tg_jwt_read(const uint8_t key[TG_KEY_BYTES], const char *text, int64_t now_unix_s,
                 struct tg_jwt *ret)
{
    struct tg_jwt claims = {0};
    jwt_t *jwt = NULL;
    bool good;

    if (strnlen(text, TEXT_BYTES_MOST) == TEXT_BYTES_MOST ||
        jwt_decode(&jwt, text, key, TG_KEY_BYTES) != 0)
        return false;
    good = jwt_get_alg(jwt) == JWT_ALG_HS256 && is_text(jwt, "iss", issuer) &&
           is_text(jwt, "aud", audience) && take_int(jwt, "uid", &claims.user_id) &&
           take_int(jwt, "sid", &claims.session_id) && take_int(jwt, "ver", &claims.authver) &&
           take_int(jwt, "exp", &claims.expires_unix_s) && claims.expires_unix_s > now_unix_s;
    jwt_free(jwt);
    if (good)
        *ret = claims;
    return good;
}
