/* opener - the master keys that channel keys are opened with, as the files have them now.
 *
 * The files are looked at before the tables are read and read again when another one is in their
 * place; what cannot be read leaves the keys as they were. The database is told the newest version
 * of a key that this node can open: `tollgatectl rotate-master-key` waits for it.
 *
 * Threads  one at a time.  Blocks  look: on the files and the database.
 */
#ifndef TOLLGATE_ROUTE_OPENER_H
#define TOLLGATE_ROUTE_OPENER_H

#include "common/crypto/secrets.h"
#include "common/sql/db.h"

struct tg_opener;

/* <console_file> or <private_file> NULL: they stay as they are. <node> NULL: nobody is told. */
struct tg_opener *tg_opener_new(const struct tg_secrets *secrets, const char *console_file,
                                const char *private_file, const char *node) must_check
    non_null(1);
void tg_opener_free(struct tg_opener *opener); /* NULL is fine; wipes */
const struct tg_secrets *tg_opener_secrets(const struct tg_opener *opener) non_null(1);
/* True: there are other keys than before. */
bool tg_opener_look(struct tg_opener *opener, struct tg_db *db) non_null(1, 2);

#endif
