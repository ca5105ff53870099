/* secrets - the two files that hold what must not be in a database.
 *
 * tollgate.secrets  (0640 root:tollgate)      private sealing key; workers and daemon only
 * console.secrets   (0640 root:tollgate-web)  public sealing key, token pepper, session key
 *
 * So no console program can open a stored channel key (AMENDMENTS C1). Both are text, one
 * `name = hex` a line; a file that everyone may read is refused. Every node has the same files;
 * their fingerprints are compared by /readyz.
 *
 * While the master key is being changed the private file holds two keys, and the console's file
 * says which of them is sealed with: key_add, key_switch and key_retire are the three steps, each
 * the atomic replacement of one file.
 *
 * Threads  any once read.  Blocks  on the file.
 */
#ifndef TOLLGATE_CRYPTO_SECRETS_H
#define TOLLGATE_CRYPTO_SECRETS_H

#include "common/crypto/crypto.h"

enum { TG_KEY_VERSION_MOST = 9999, TG_FINGERPRINT_TEXT = 17 };

struct tg_secrets {
    bool has_private;                    /* tollgate.secrets was read too */
    int key_version;                     /* of the key pair that is sealed with */
    int private_version, other_version;  /* of the private keys; other_version 0: there is none */
    uint8_t seal_private[TG_KEY_BYTES];
    uint8_t other_private[TG_KEY_BYTES];
    uint8_t seal_public[TG_KEY_BYTES];
    uint8_t token_pepper[TG_KEY_BYTES];
    uint8_t session_key[TG_KEY_BYTES];
    uint8_t internal_key[TG_KEY_BYTES];  /* console -> worker calls (channel tests) */
    char fingerprint[TG_FINGERPRINT_TEXT]; /* of all that console.secrets holds */
};

/* <private_path> NULL: console side. Errors: TG_CLASS_CONFIG "secrets_…". */
enum tg_class tg_secrets_read(const char *console_path, const char *private_path,
                              struct tg_secrets *ret, struct tg_error *err) must_check
    non_null(1, 3);
/* Makes both files with new keys; existing files are never overwritten (TG_CLASS_CONFLICT). */
enum tg_class tg_secrets_create(const char *console_path, const char *private_path,
                                struct tg_error *err) must_check non_null(1, 2);
/* The private key of a version; NULL: it is not there. */
const uint8_t *tg_secrets_private(const struct tg_secrets *secrets, int64_t version) must_check
    non_null(1);
int tg_secrets_newest(const struct tg_secrets *secrets) must_check non_null(1);
/* tg_unseal with the key of that version: TG_CLASS_CONFIG "master_key_unknown" without one. */
struct tg_sealed {
    int64_t version;
    const char *aad;
    struct tg_span bytes;
};
enum tg_class tg_secrets_unseal(const struct tg_secrets *secrets, const struct tg_sealed *sealed,
                                struct tg_buf *ret, struct tg_error *err) must_check
    non_null(1, 2, 3);

/* A new key beside the one that is there; <now> has one only. */
enum tg_class tg_secrets_key_add(const char *private_path, const struct tg_secrets *now,
                                 struct tg_error *err) must_check non_null(1, 2);
/* The newest key is sealed with from now on. */
enum tg_class tg_secrets_key_switch(const char *console_path, const struct tg_secrets *now,
                                    struct tg_error *err) must_check non_null(1, 2);
/* The newest key is the only one; it must be the one that is sealed with. */
enum tg_class tg_secrets_key_retire(const char *private_path, const struct tg_secrets *now,
                                    struct tg_error *err) must_check non_null(1, 2);
void tg_secrets_done(struct tg_secrets *secrets); /* wipes */

#endif
