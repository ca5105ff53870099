#include "common/store/migrate.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/store/split.h"

/* An ALTER of a large table takes its time. */
static const int64_t statement_us = INT64_C(3600) * 1000000;
enum { LOCK_SECONDS = 600, FILE_LIMIT = 4 << 20, LOCK_TEXT = 100 };

struct run {
    const struct tg_migration *migration;
    struct tg_db *db;
    struct tg_error *err;
    char lock[LOCK_TEXT];
};

static int is_migration(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return entry->d_name[0] != '.' && len > 4 && strcmp(entry->d_name + len - 4, ".sql") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static enum tg_class read_file(const struct run *run, const char *name, struct tg_buf *ret)
{
    char path[4096], bytes[8192];
    FILE *file;
    size_t got;
    bool bad;

    snprintf(path, sizeof path, "%s/%s", run->migration->folder, name);
    file = fopen(path, "re");
    if (file == NULL)
        return tg_fail(run->err, TG_CLASS_CONFIG, "migration_folder", "%s: %s", path,
                       strerror(errno));
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        tg_buf_add(ret, bytes, got);
    bad = ferror(file) != 0 || ret->failed;
    fclose(file);
    if (bad)
        return tg_fail(run->err, TG_CLASS_CONFIG, "migration_folder", "%s cannot be read", path);
    return TG_OK;
}

/* The lock belongs to the connection: on a new one it would be gone without a sign. */
static enum tg_class check_lock(const struct run *run)
{
    const struct tg_db_value values[] = {TG_DB_S(run->lock)};
    struct tg_db_rows *rows;
    enum tg_class class;
    bool held;

    class = tg_db_select(run->db, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", values, 1, &rows);
    if (class != TG_OK) {
        *run->err = *tg_db_error(run->db);
        return class;
    }
    held = tg_db_next(rows) && tg_db_int(rows, 0) == 1;
    tg_db_rows_free(rows);
    if (!held)
        return tg_fail(run->err, TG_CLASS_DOWN, "db_down", "the connection was lost; run it again");
    return TG_OK;
}

static enum tg_class take_lock(const struct run *run)
{
    const struct tg_db_value values[] = {TG_DB_S(run->lock), TG_DB_I(LOCK_SECONDS)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(run->db, "SELECT GET_LOCK(?, ?)", values, 2, &rows);
    bool taken;

    if (class != TG_OK) {
        *run->err = *tg_db_error(run->db);
        return class;
    }
    taken = tg_db_next(rows) && tg_db_int(rows, 0) == 1;
    tg_db_rows_free(rows);
    if (!taken)
        return tg_fail(run->err, TG_CLASS_CONFLICT, "migration_busy",
                       "another migration has been running for %d s", LOCK_SECONDS);
    return TG_OK;
}

static enum tg_class run_statement(const struct run *run, const char *name, int number,
                                   struct tg_span statement)
{
    char *sql = tg_strndup(statement.ptr, statement.len);
    struct tg_error cause;
    enum tg_class class = tg_db_script(run->db, sql, &cause);

    if (class != TG_OK) {
        int shown = (int)strcspn(sql, "\n");

        class = tg_fail(run->err, class == TG_CLASS_INTERNAL ? TG_CLASS_CONFIG : class,
                        class == TG_CLASS_INTERNAL ? "migration_failed" : cause.code,
                        "%s, statement %d (%.*s): %s", name, number, TG_MIN(shown, 80), sql,
                        cause.message);
    }
    free(sql);
    return class;
}

static enum tg_class apply_file(const struct run *run, const char *name)
{
    struct tg_buf text;
    struct tg_span statement;
    const char *rest;
    int number = 0;
    enum tg_class class;

    tg_buf_init(&text, FILE_LIMIT);
    class = read_file(run, name, &text);
    rest = tg_buf_text(&text);
    while (class == TG_OK && tg_sql_next(&rest, &statement)) {
        class = check_lock(run);
        if (class == TG_OK)
            class = run_statement(run, name, ++number, statement);
    }
    tg_buf_done(&text);
    if (class != TG_OK)
        return class;
    class = tg_db_run(run->db, "INSERT INTO schema_migration (name) VALUES (?)",
                      (struct tg_db_value[]){TG_DB_S(name)}, 1, run->err);
    if (class == TG_OK && run->migration->applied != NULL)
        run->migration->applied(run->migration->context, name);
    return class;
}

static enum tg_class is_applied(const struct run *run, const char *name, bool *ret)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(run->db, "SELECT 1 FROM schema_migration WHERE name = ?",
                                       (struct tg_db_value[]){TG_DB_S(name)}, 1, &rows);

    if (class != TG_OK) {
        *run->err = *tg_db_error(run->db);
        return class;
    }
    *ret = tg_db_next(rows);
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class apply_missing(const struct run *run)
{
    struct dirent **names;
    int count = scandir(run->migration->folder, &names, is_migration, by_name);
    enum tg_class class = TG_OK;

    if (count <= 0) {
        if (count == 0)
            free(names);
        return tg_fail(run->err, TG_CLASS_CONFIG, "migration_folder",
                       "there are no migrations in %s", run->migration->folder);
    }
    for (int i = 0; i < count && class == TG_OK; i++) {
        bool done = false;

        class = is_applied(run, names[i]->d_name, &done);
        if (class == TG_OK && !done)
            class = apply_file(run, names[i]->d_name);
    }
    free_names(names, count);
    return class;
}

static enum tg_class open_pool(const struct tg_migration *migration, bool without_schema,
                               struct tg_db_pool **ret, struct tg_error *err)
{
    const struct tg_db_conf conf = {.dsn = migration->dsn,
                                    .password = migration->password,
                                    .connections = 1,
                                    .timeout_us = statement_us,
                                    .without_schema = without_schema};

    return tg_db_pool_new(&conf, ret, err);
}

/* An account without the right finds a database that somebody made for it, or fails there. */
static enum tg_class create_database(const struct tg_migration *migration, struct tg_error *err)
{
    char sql[160];
    struct tg_db_pool *pool = NULL;
    struct tg_db *db = NULL;
    enum tg_class class = open_pool(migration, true, &pool, err);

    if (class != TG_OK)
        return class;
    snprintf(sql, sizeof sql,
             "CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
             tg_db_pool_schema(pool));
    class = tg_db_acquire(pool, tg_now_us(), &db, err);
    if (class == TG_OK)
        class = tg_db_script(db, sql, err);
    tg_db_release(db);
    tg_db_pool_free(pool);
    return class == TG_CLASS_INTERNAL ? TG_OK : class;
}

static enum tg_class migrate_locked(const struct run *run)
{
    enum tg_class class =
        tg_db_script(run->db,
                     "CREATE TABLE IF NOT EXISTS schema_migration (name VARCHAR(191) NOT NULL, "
                     "applied_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), "
                     "PRIMARY KEY (name)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 "
                     "COLLATE=utf8mb4_bin",
                     run->err);

    return class == TG_OK ? apply_missing(run) : class;
}

enum tg_class tg_store_migrate(const struct tg_migration *migration, struct tg_error *err)
{
    struct tg_db_pool *pool = NULL;
    struct run run = {.migration = migration, .err = err};
    enum tg_class class = create_database(migration, err);

    if (class == TG_OK)
        class = open_pool(migration, false, &pool, err);
    if (class != TG_OK)
        return class;
    snprintf(run.lock, sizeof run.lock, "tg.migrate.%.50s", tg_db_pool_schema(pool));
    class = tg_db_acquire(pool, tg_now_us(), &run.db, err);
    if (class == TG_OK)
        class = take_lock(&run);
    if (class == TG_OK)
        class = migrate_locked(&run);
    tg_db_release(run.db);
    tg_db_pool_free(pool); /* the lock goes with the connection */
    return class;
}
