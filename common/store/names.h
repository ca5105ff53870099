/* names - what ids of the log database are called in the main one, each asked for once.
 *
 * Names are a help: while the database gives no answer they are "". For common/store only.
 *
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_NAMES_H
#define TOLLGATE_STORE_NAMES_H

#include "common/sql/db.h"

enum tg_name_kind { TG_NAME_USER, TG_NAME_CHANNEL, TG_NAME_PROVIDER };

struct tg_names;

struct tg_names *tg_names_new(struct tg_db *main_db) must_check non_null(1);
void tg_names_free(struct tg_names *names); /* NULL is fine */
/* Borrowed until tg_names_free. PROVIDER: of the channel with that id. */
const char *tg_names_get(struct tg_names *names, enum tg_name_kind kind, int64_t id) must_check
    non_null(1);

#endif
