/* migrate - brings a database to the tables that this program expects.
 *
 * The files of a folder are applied in name order, each once, and noted in schema_migration. A
 * named lock of the server keeps a second run waiting. A file that broke half-way is simply run
 * again, so every file may be: CREATE TABLE IF NOT EXISTS, ALTERs guarded by a look into
 * information_schema (prepared from a text, because MySQL knows no ADD COLUMN IF NOT EXISTS).
 *
 * Errors   those of db.h; TG_CLASS_CONFIG "migration_failed" names file and statement;
 *          "migration_folder".
 * Threads  one.  Blocks  as long as the statements take.
 */
#ifndef TOLLGATE_STORE_MIGRATE_H
#define TOLLGATE_STORE_MIGRATE_H

#include "common/sql/db.h"

struct tg_migration {
    const char *dsn, *password;
    const char *folder; /* DATADIR/sql/main or …/sql/log */
    /* Told of each file that was applied; NULL is fine. */
    void (*applied)(void *context, const char *file);
    void *context;
};

/* Makes the database when it is missing and the account may. */
enum tg_class tg_store_migrate(const struct tg_migration *migration, struct tg_error *err)
    must_check non_null(1, 2);

#endif
