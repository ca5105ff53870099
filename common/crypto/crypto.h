/* crypto - the few operations Tollgate needs (the only user of libsodium).
 *
 * Threads  any after tg_crypto_init.  Blocks  no, but tg_password_hash takes 64 MiB and ~0.1 s.
 */
#ifndef TOLLGATE_CRYPTO_CRYPTO_H
#define TOLLGATE_CRYPTO_CRYPTO_H

#include "common/base/buf.h"
#include "common/base/error.h"

enum { TG_HMAC_BYTES = 32, TG_HMAC_HEX = 65, TG_KEY_BYTES = 32, TG_TOKEN_TEXT = 49 };

/* Once per process, before threads. What holds secrets writes no core file from then on. */
enum tg_class tg_crypto_init(struct tg_error *err) must_check;
void tg_random(void *bytes, size_t len) non_null(1);
bool tg_equal_constant_time(const void *a, const void *b, size_t len) must_check non_null(1, 2);
void tg_wipe(void *bytes, size_t len) non_null(1);

/* HMAC-SHA-256. */
void tg_hmac(const uint8_t key[TG_KEY_BYTES], const void *text, size_t len,
             uint8_t ret[TG_HMAC_BYTES]);
/* The same with a key that was made ready, which is half of the work for a short text. */
struct tg_hmac_key {
    uint64_t state[26];
};
void tg_hmac_key_init(const uint8_t key[TG_KEY_BYTES], struct tg_hmac_key *ret) non_null(2);
void tg_hmac_with(const struct tg_hmac_key *key, const void *text, size_t len,
                  uint8_t ret[TG_HMAC_BYTES]) non_null(1);
void tg_hex(const void *bytes, size_t len, char *text); /* 2 * len + 1 bytes, lower case */
/* <len> bytes from exactly 2 * len digits. */
bool tg_unhex(const char *text, size_t len, void *bytes) must_check non_null(1, 3);
/* SHA-256 as lower-case hex (price rule hashes, fingerprints). */
void tg_sha256_hex(const void *bytes, size_t len, char text[TG_HMAC_HEX]);

/* "sk-tg" + 43 base62 characters (256 bits), no dash behind "sk-". */
void tg_token_new(char text[TG_TOKEN_TEXT]);
/* The shape only: prefix, length, alphabet. <len> without a "-<digits>" pin. */
bool tg_token_shape_ok(const char *text, size_t len) non_null(1);

/* argon2id, as a text that carries its own parameters. At most 1,024 bytes of password. */
enum tg_class tg_password_hash(const char *password, struct tg_buf *ret, struct tg_error *err)
    must_check non_null(1, 2);
bool tg_password_ok(const char *password, const char *hash) must_check non_null(1, 2);

/* Sealed boxes (X25519 + XSalsa20-Poly1305): anyone with the public key seals, only workers and
 * the daemon open. <aad> (row identity) is bound inside the plaintext. */
void tg_seal(const uint8_t public_key[TG_KEY_BYTES], const char *aad, const char *secret,
             struct tg_buf *ret) non_null(2, 3, 4);
enum tg_class tg_unseal(const uint8_t secret_key[TG_KEY_BYTES], const char *aad,
                        struct tg_span sealed, struct tg_buf *ret, struct tg_error *err)
    must_check non_null(2, 4);
void tg_seal_keypair(uint8_t ret_public[TG_KEY_BYTES], uint8_t ret_secret[TG_KEY_BYTES]);
void tg_seal_public_of(const uint8_t secret_key[TG_KEY_BYTES], uint8_t ret_public[TG_KEY_BYTES]);
/* False for a key that nothing can be sealed with (a point of small order). Keys from outside are
 * asked; sealing with such a key is a programming error. */
bool tg_seal_public_ok(const uint8_t public_key[TG_KEY_BYTES]) must_check;

#endif
