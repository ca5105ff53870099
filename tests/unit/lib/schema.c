#include "tests/unit/lib/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/store/migrate.h"

const char *test_schema_folder(const char *which)
{
    static char folders[2][1024];
    char *folder = folders[strcmp(which, "main") == 0];
    const char *source = getenv("TOLLGATE_SOURCE");

    snprintf(folder, sizeof folders[0], "%s/sql/%s", source != NULL ? source : "..", which);
    return folder;
}

struct tg_db_pool *test_schema(struct test_mariadb *server, const char *which, const char *schema,
                               int connections)
{
    const struct tg_migration migration = {.dsn = test_mariadb_dsn(server, schema),
                                           .password = "",
                                           .folder = test_schema_folder(which)};
    struct tg_error err;

    if (tg_store_migrate(&migration, &err) != TG_OK) {
        fprintf(stderr, "migrations of %s: %s\n", which, err.message);
        exit(1);
    }
    return test_mariadb_pool(server, schema, connections);
}

struct tg_db *test_take(struct tg_db_pool *pool)
{
    struct tg_db *db = NULL;

    if (tg_db_acquire(pool, tg_now_us() + 10000000, &db, NULL) != TG_OK) {
        fprintf(stderr, "no connection is free\n");
        exit(1);
    }
    return db;
}


const char *test_text(struct tg_db *db, const char *sql)
{
    static char text[65536];
    struct tg_db_rows *rows;

    if (tg_db_select(db, sql, NULL, 0, &rows) != TG_OK || !tg_db_next(rows)) {
        fprintf(stderr, "%s: %s\n", sql, tg_db_error(db)->message);
        exit(1);
    }
    snprintf(text, sizeof text, "%s", tg_db_is_null(rows, 0) ? "" : tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    return text;
}

int64_t test_number(struct tg_db *db, const char *sql)
{
    return strtoll(test_text(db, sql), NULL, 10);
}
