#include "common/crypto/crypto.h"

#include "common/base/memory.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static_assert(TG_KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "HMAC key");
static_assert(TG_HMAC_BYTES == crypto_auth_hmacsha256_BYTES, "HMAC");
static_assert(sizeof(struct tg_hmac_key) == sizeof(crypto_auth_hmacsha256_state), "HMAC state");
static_assert(TG_KEY_BYTES == crypto_box_PUBLICKEYBYTES, "public key");
static_assert(TG_KEY_BYTES == crypto_box_SECRETKEYBYTES, "secret key");

static const char token_prefix[] = "sk-tg";
static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { PASSWORD_LIMIT_BYTES = 1024, AAD_LEN_BYTES = 4 };

enum tg_class tg_crypto_init(struct tg_error *err)
{
    tg_memory_keep();
    if (sodium_init() < 0)
        return tg_fail(err, TG_CLASS_INTERNAL, "crypto_init", "libsodium cannot be started");
    return TG_OK;
}

void tg_random(void *bytes, size_t len)
{
    randombytes_buf(bytes, len);
}

bool tg_equal_constant_time(const void *a, const void *b, size_t len)
{
    return sodium_memcmp(a, b, len) == 0;
}

void tg_wipe(void *bytes, size_t len)
{
    sodium_memzero(bytes, len);
}

void tg_hmac(const uint8_t key[TG_KEY_BYTES], const void *text, size_t len,
             uint8_t ret[TG_HMAC_BYTES])
{
    crypto_auth_hmacsha256(ret, text, len, key);
}

void tg_hmac_key_init(const uint8_t key[TG_KEY_BYTES], struct tg_hmac_key *ret)
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, key, TG_KEY_BYTES);
    memcpy(ret->state, &state, sizeof state);
    sodium_memzero(&state, sizeof state);
}

void tg_hmac_with(const struct tg_hmac_key *key, const void *text, size_t len,
                  uint8_t ret[TG_HMAC_BYTES])
{
    crypto_auth_hmacsha256_state state;

    memcpy(&state, key->state, sizeof state);
    crypto_auth_hmacsha256_update(&state, text, len);
    crypto_auth_hmacsha256_final(&state, ret);
    sodium_memzero(&state, sizeof state);
}

void tg_hex(const void *bytes, size_t len, char *text)
{
    sodium_bin2hex(text, 2 * len + 1, bytes, len);
}

bool tg_unhex(const char *text, size_t len, void *bytes)
{
    size_t got;

    return strlen(text) == 2 * len &&
           sodium_hex2bin(bytes, len, text, 2 * len, NULL, &got, NULL) == 0 && got == len;
}

void tg_sha256_hex(const void *bytes, size_t len, char text[TG_HMAC_HEX])
{
    uint8_t hash[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(hash, bytes, len);
    tg_hex(hash, sizeof hash, text);
}

void tg_token_new(char text[TG_TOKEN_TEXT])
{
    size_t at = sizeof token_prefix - 1;

    memcpy(text, token_prefix, at);
    while (at < TG_TOKEN_TEXT - 1)
        text[at++] = base62[randombytes_uniform(sizeof base62 - 1)];
    text[at] = '\0';
}

bool tg_token_shape_ok(const char *text, size_t len)
{
    if (len != TG_TOKEN_TEXT - 1 || memcmp(text, token_prefix, sizeof token_prefix - 1) != 0)
        return false;
    for (size_t i = sizeof token_prefix - 1; i < len; i++)
        if (memchr(base62, text[i], sizeof base62 - 1) == NULL)
            return false;
    return true;
}

enum tg_class tg_password_hash(const char *password, struct tg_buf *ret, struct tg_error *err)
{
    char hash[crypto_pwhash_STRBYTES];
    size_t len = strlen(password);

    if (len > PASSWORD_LIMIT_BYTES)
        return tg_fail(err, TG_CLASS_INVALID, "password_too_long",
                       "a password has at most %d bytes", PASSWORD_LIMIT_BYTES);
    if (crypto_pwhash_str(hash, password, len, crypto_pwhash_OPSLIMIT_INTERACTIVE,
                          crypto_pwhash_MEMLIMIT_INTERACTIVE) != 0)
        return tg_fail(err, TG_CLASS_OVERLOAD, "password_hash", "no memory to hash a password");
    tg_buf_str(ret, hash);
    return TG_OK;
}

bool tg_password_ok(const char *password, const char *hash)
{
    size_t len = strlen(password);

    return len <= PASSWORD_LIMIT_BYTES && crypto_pwhash_str_verify(hash, password, len) == 0;
}

/* Plaintext of a box: length of <aad> (little endian), <aad>, the secret. */
void tg_seal(const uint8_t public_key[TG_KEY_BYTES], const char *aad, const char *secret,
             struct tg_buf *ret)
{
    size_t aad_len = strlen(aad), secret_len = strlen(secret);
    size_t len = AAD_LEN_BYTES + aad_len + secret_len;
    uint8_t *plain = tg_malloc(len), *sealed = tg_malloc(len + crypto_box_SEALBYTES);

    tg_assert(aad_len <= UINT32_MAX);
    for (size_t i = 0; i < AAD_LEN_BYTES; i++)
        plain[i] = (uint8_t)(aad_len >> (8 * i));
    memcpy(plain + AAD_LEN_BYTES, aad, aad_len);
    memcpy(plain + AAD_LEN_BYTES + aad_len, secret, secret_len);
    /* Fails for a public key of small order only; tg_seal_public_ok keeps those out. */
    tg_assert(crypto_box_seal(sealed, plain, len, public_key) == 0);
    tg_buf_add(ret, sealed, len + crypto_box_SEALBYTES);
    sodium_memzero(plain, len);
    free(plain);
    free(sealed);
}

/* The secret inside an opened box, if the box was sealed for this row. */
static bool secret_of(const uint8_t *plain, size_t len, const char *aad, struct tg_span *ret)
{
    size_t aad_len = 0;

    if (len < AAD_LEN_BYTES)
        return false;
    for (size_t i = 0; i < AAD_LEN_BYTES; i++)
        aad_len |= (size_t)plain[i] << (8 * i);
    plain += AAD_LEN_BYTES;
    len -= AAD_LEN_BYTES;
    if (aad_len > len || aad_len != strlen(aad) || memcmp(plain, aad, aad_len) != 0)
        return false;
    *ret = (struct tg_span){(const char *)plain + aad_len, len - aad_len};
    return true;
}

enum tg_class tg_unseal(const uint8_t secret_key[TG_KEY_BYTES], const char *aad,
                        struct tg_span sealed, struct tg_buf *ret, struct tg_error *err)
{
    uint8_t public_key[TG_KEY_BYTES], *plain;
    size_t plain_len = sealed.len - crypto_box_SEALBYTES;
    enum tg_class class = TG_OK;
    struct tg_span secret;

    if (sealed.len < crypto_box_SEALBYTES)
        return tg_fail(err, TG_CLASS_CONFIG, "unseal", "a sealed secret is cut off");
    plain = tg_malloc(plain_len);
    tg_seal_public_of(secret_key, public_key);
    if (crypto_box_seal_open(plain, (const uint8_t *)sealed.ptr, sealed.len, public_key,
                             secret_key) != 0)
        class = tg_fail(err, TG_CLASS_CONFIG, "unseal",
                        "a sealed secret was made for another master key or was changed");
    else if (!secret_of(plain, plain_len, aad, &secret))
        class = tg_fail(err, TG_CLASS_CONFIG, "unseal", "a sealed secret belongs to another row");
    else
        tg_buf_add(ret, secret.ptr, secret.len);
    sodium_memzero(plain, plain_len);
    free(plain);
    return class;
}

void tg_seal_keypair(uint8_t ret_public[TG_KEY_BYTES], uint8_t ret_secret[TG_KEY_BYTES])
{
    crypto_box_keypair(ret_public, ret_secret);
}

void tg_seal_public_of(const uint8_t secret_key[TG_KEY_BYTES], uint8_t ret_public[TG_KEY_BYTES])
{
    crypto_scalarmult_base(ret_public, secret_key);
}

bool tg_seal_public_ok(const uint8_t public_key[TG_KEY_BYTES])
{
    uint8_t any_secret[TG_KEY_BYTES] = {1}, shared[crypto_scalarmult_BYTES];

    return crypto_scalarmult(shared, any_secret, public_key) == 0;
}
