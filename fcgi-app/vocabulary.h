/* vocabulary - the encoders, from the files that are installed with the gateway.
 *
 * Made by the master before it forks: the files are mapped, the tables are never written again,
 * so all workers share one copy. The folder is TOLLGATE_DATADIR, else where `make install` put it.
 *
 * Errors   TG_CLASS_CONFIG.
 * Threads  one.  Blocks  on reading the files (30 ms).
 */
#ifndef TOLLGATE_VOCABULARY_H
#define TOLLGATE_VOCABULARY_H

#include "fcgi-app/count/encoders.h"

struct tg_vocabularies;

enum tg_class tg_vocabularies_open(struct tg_vocabularies **ret, struct tg_error *err) must_check
    non_null(1);
void tg_vocabularies_close(struct tg_vocabularies *vocabularies);

/* Borrowed. */
const struct tg_encoders *tg_vocabularies_encoders(const struct tg_vocabularies *vocabularies)
    must_check non_null(1);

#endif
