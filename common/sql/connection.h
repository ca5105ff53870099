/* connection - what db_pool.c needs of db.c: a connection that is made when first used. */
#ifndef TOLLGATE_SQL_CONNECTION_H
#define TOLLGATE_SQL_CONNECTION_H

#include "common/sql/db.h"
#include "common/sql/dsn.h"

struct tg_db_target {
    struct tg_dsn dsn;
    char *password;
    int64_t timeout_us;
    bool without_schema;
};

/* Borrows <target>. */
struct tg_db *tg_db_new(const struct tg_db_target *target, struct tg_db_pool *pool) must_check
    non_null(1, 2);
void tg_db_free(struct tg_db *db); /* NULL is fine */
struct tg_db_pool *tg_db_owner(const struct tg_db *db) non_null(1);

#endif
