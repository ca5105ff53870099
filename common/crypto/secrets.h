/* secrets - the two files that hold what must not be in a database.
 *
 * tollgate.secrets  (0640 root:tollgate)      private sealing key; workers and daemon only
 * console.secrets   (0640 root:tollgate-web)  public sealing key, token pepper, session key
 *
 * So no console program can open a stored channel key (AMENDMENTS C1). Both are text, one
 * `name = hex` a line; a file that everyone may read is refused. Every node has the same files;
 * their fingerprints are compared by /readyz.
 *
 * Threads  any once read.  Blocks  on the file.
 */
#ifndef TOLLGATE_CRYPTO_SECRETS_H
#define TOLLGATE_CRYPTO_SECRETS_H

#include "common/crypto/crypto.h"

struct tg_secrets {
    bool has_private;                    /* tollgate.secrets was read too */
    int key_version;                     /* of the sealing key pair */
    uint8_t seal_private[TG_KEY_BYTES];
    uint8_t seal_public[TG_KEY_BYTES];
    uint8_t token_pepper[TG_KEY_BYTES];
    uint8_t session_key[TG_KEY_BYTES];
    uint8_t internal_key[TG_KEY_BYTES];  /* console -> worker calls (channel tests) */
    char fingerprint[17];                /* of all that console.secrets holds */
};

/* <private_path> NULL: console side. Errors: TG_CLASS_CONFIG "secrets_…". */
enum tg_class tg_secrets_read(const char *console_path, const char *private_path,
                              struct tg_secrets *ret, struct tg_error *err) must_check
    non_null(1, 3);
/* Makes both files with new keys; existing files are never overwritten (TG_CLASS_CONFLICT). */
enum tg_class tg_secrets_create(const char *console_path, const char *private_path,
                                struct tg_error *err) must_check non_null(1, 2);
void tg_secrets_done(struct tg_secrets *secrets); /* wipes */

#endif
