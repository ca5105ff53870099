/* Migrations: once, twice, two at a time, over a half-applied state; partitions. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/id.h"
#include "common/store/migrate.h"
#include "common/store/partition.h"
#include "tests/unit/lib/schema.h"

static const char guarded_alter[] =
    "SET @guarded = IF((SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "
    "DATABASE() AND TABLE_NAME = 'a' AND COLUMN_NAME = 'more') = 0, 'ALTER TABLE a ADD COLUMN "
    "more INT', 'DO 0');\nPREPARE guarded FROM @guarded;\nEXECUTE guarded;\n";

struct files {
    char folder[64];
};

static void files_new(struct files *files)
{
    snprintf(files->folder, sizeof files->folder, "/tmp/tollgate-sql.XXXXXX");
    assert_non_null(mkdtemp(files->folder));
}

static void files_write(const struct files *files, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", files->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void files_done(const struct files *files, const char *const *names, size_t count)
{
    char path[256];

    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", files->folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(files->folder), 0);
}

static void count_file(void *context, const char *file)
{
    assert_non_null(strstr(file, ".sql"));
    ++*(int *)context;
}

static struct tg_migration migration(struct test_mariadb *server, const char *schema,
                                     const char *folder, int *applied)
{
    return (struct tg_migration){.dsn = test_mariadb_dsn(server, schema),
                                 .password = "",
                                 .folder = folder,
                                 .applied = count_file,
                                 .context = applied};
}

static void both_databases_are_made_and_a_second_run_changes_nothing(void **state)
{
    static const char *const which[] = {"main", "log"};
    struct tg_error err;

    for (size_t i = 0; i < TG_COUNT_OF(which); i++) {
        int first = 0, second = 0;
        struct tg_migration run =
            migration(*state, which[i], test_schema_folder(which[i]), &first);

        assert_int_equal(tg_store_migrate(&run, &err), TG_OK);
        assert_true(first > 0);
        run.context = &second;
        assert_int_equal(tg_store_migrate(&run, &err), TG_OK);
        assert_int_equal(second, 0);
    }
}

/* As after a kill between the last statement and the note of it. */
static void every_file_can_be_run_again(void **state)
{
    static const char *const which[] = {"main", "log"};
    struct tg_error err;

    for (size_t i = 0; i < TG_COUNT_OF(which); i++) {
        int applied = 0;
        struct tg_migration run =
            migration(*state, which[i], test_schema_folder(which[i]), &applied);

        assert_int_equal(tg_store_migrate(&run, &err), TG_OK);
        applied = 0;
        test_mariadb_sql(*state, which[i], "DELETE FROM schema_migration");
        assert_int_equal(tg_store_migrate(&run, &err), TG_OK);
        assert_true(applied > 0);
    }
    struct tg_db_pool *pool = test_mariadb_pool(*state, "main", 1);
    struct tg_db *db = test_take(pool);

    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM ledger_cursor"), 64);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM routing_version"), 1);
    tg_db_release(db);
    tg_db_pool_free(pool);
}

static int migrate_in_a_process(struct test_mariadb *server, const char *folder, int go)
{
    char byte;
    int applied = 0;
    struct tg_error err;
    struct tg_migration run = migration(server, "twins", folder, &applied);

    if (read(go, &byte, 1) != 0)
        return 100;
    if (tg_store_migrate(&run, &err) != TG_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 101;
    }
    return applied;
}

static void two_processes_at_once_apply_each_file_once(void **state)
{
    static const char *const names[] = {"1_a.sql", "2_b.sql", "3_c.sql"};
    struct files files;
    int go[2], status, applied = 0;

    files_new(&files);
    files_write(&files, names[0], "CREATE TABLE a (n INT); INSERT INTO a VALUES (0)");
    files_write(&files, names[1], "DO SLEEP(0.3); UPDATE a SET n = n + 1");
    files_write(&files, names[2], "CREATE TABLE c (n INT)"); /* fails when run twice */
    assert_int_equal(pipe(go), 0);
    fflush(NULL);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            close(go[1]);
            _exit(migrate_in_a_process(*state, files.folder, go[0]));
        }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < 2; i++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 3);
        applied += WEXITSTATUS(status);
    }
    assert_int_equal(applied, 3);
    files_done(&files, names, TG_COUNT_OF(names));
}

static void a_file_that_broke_half_way_is_run_again(void **state)
{
    static const char *const names[] = {"1_a.sql", "2_more.sql", "3_later.sql"};
    struct files files;
    char broken[1024];
    int applied = 0;
    struct tg_error err;
    struct tg_db_pool *pool;
    struct tg_db *db;
    struct tg_migration run;

    files_new(&files);
    run = migration(*state, "half", files.folder, &applied);
    snprintf(broken, sizeof broken, "-- adds a column\n%sINSERT INTO nowhere\n  VALUES (1);\n",
             guarded_alter);
    files_write(&files, names[0], "CREATE TABLE IF NOT EXISTS a (n INT);");
    files_write(&files, names[1], broken);
    files_write(&files, names[2], "CREATE TABLE later (n INT)");
    assert_int_equal(tg_store_migrate(&run, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.code, "migration_failed");
    assert_non_null(strstr(err.message, "2_more.sql, statement 4 (INSERT INTO nowhere): "));
    assert_int_equal(applied, 1);

    files_write(&files, names[1], guarded_alter); /* mended */
    assert_int_equal(tg_store_migrate(&run, &err), TG_OK);
    assert_int_equal(applied, 3);
    pool = test_mariadb_pool(*state, "half", 1);
    db = test_take(pool);
    assert_int_equal(test_number(db, "SELECT COUNT(more) FROM a"), 0);
    tg_db_release(db);
    tg_db_pool_free(pool);
    files_done(&files, names, TG_COUNT_OF(names));
}

static void an_empty_folder_is_an_error(void **state)
{
    struct files files;
    struct tg_error err;
    struct tg_migration run;
    int applied = 0;

    files_new(&files);
    run = migration(*state, "none", files.folder, &applied);
    assert_int_equal(tg_store_migrate(&run, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.code, "migration_folder");
    assert_non_null(strstr(err.message, files.folder));
    files_done(&files, NULL, 0);
    assert_int_equal(tg_store_migrate(&run, &err), TG_CLASS_CONFIG);
}

#define MARCH_2027 INT64_C(1804204800000000) /* 2027-03-05 00:00:00 UTC */

static void months_are_made_ahead_and_dropped(void **state)
{
    struct tg_db_pool *pool = test_schema(*state, "log", "months", 1);
    struct tg_db *db = test_take(pool);
    static const char *const names =
        "SELECT GROUP_CONCAT(PARTITION_NAME ORDER BY PARTITION_ORDINAL_POSITION) FROM "
        "information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = "
        "'request_log'";
    static const char *const detail_names =
        "SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() "
        "AND TABLE_NAME = 'request_detail'";

    for (int round = 0; round < 2; round++) {
        assert_int_equal(tg_store_log_partitions_ensure(db, MARCH_2027, 1, NULL), TG_OK);
        assert_string_equal(test_text(db, names), "m202703,m202704,later");
    }
    assert_int_equal(tg_store_log_partitions_ensure(db, MARCH_2027, 10, NULL), TG_OK);
    assert_string_equal(test_text(db, names),
                        "m202703,m202704,m202705,m202706,m202707,m202708,m202709,m202710,m202711,"
                        "m202712,m202801,later");
    assert_int_equal(test_number(db, detail_names), 12);
    assert_int_equal(tg_db_run(db,
                               "INSERT INTO request_log (request_id, created_at) VALUES "
                               "('a', '2027-03-31 23:59:59.999999'), ('b', '2027-04-01'), "
                               "('c', '2029-01-01'), ('d', '2020-01-01')",
                               NULL, 0, NULL),
                     TG_OK);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM request_log PARTITION (m202703)"), 2);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM request_log PARTITION (m202704)"), 1);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM request_log PARTITION (later)"), 1);

    /* in May, one month is kept: April and what comes later */
    assert_int_equal(
        tg_store_log_partitions_drop(db, MARCH_2027 + INT64_C(61) * 86400000000, 1, NULL), TG_OK);
    assert_memory_equal(test_text(db, names), "m202704,m202705", 15);
    assert_int_equal(test_number(db, detail_names), 11);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM request_log"), 2);
    tg_db_release(db);
    tg_db_pool_free(pool);
}

/* The id of a moment, with its random part at one of its ends. */
static struct tg_id id_at(int64_t unix_ms, uint8_t rest)
{
    struct tg_id id;

    memset(id.bytes, rest, sizeof id.bytes);
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    return id;
}

static void entries_lie_in_the_day_of_their_id(void **state)
{
    static const struct {
        int64_t offset_ms;
        uint8_t rest;
        const char *partition;
    } cases[] = {
        {-86400000, 0x00, "d20270305"},       /* yesterday's go with the first */
        {0, 0x00, "d20270305"},
        {86400000 - 1, 0xff, "d20270305"},
        {86400000, 0x00, "d20270306"},
        {2 * 86400000 - 1, 0xff, "d20270306"},
        {2 * 86400000, 0x00, "later"},        /* a clock two days ahead */
    };
    struct tg_db_pool *pool = test_schema(*state, "main", "days", 1);
    struct tg_db *db = test_take(pool);

    for (int round = 0; round < 2; round++)
        assert_int_equal(tg_store_entry_partitions_ensure(db, MARCH_2027 + 5, 1, NULL), TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_id id = id_at(MARCH_2027 / 1000 + cases[i].offset_ms, cases[i].rest);
        char count[128];

        test_mariadb_sql(*state, "days", "DELETE FROM ledger_entry");
        assert_int_equal(tg_db_run(db,
                                   "INSERT INTO ledger_entry (request_id, shard, kind, user_id, "
                                   "amount_quota, batch, at) VALUES (?, 0, 'charge', 1, 1, ?, "
                                   "NOW(6))",
                                   (struct tg_db_value[]){TG_DB_B(id.bytes, 16),
                                                          TG_DB_B(id.bytes, 16)},
                                   2, NULL),
                         TG_OK);
        snprintf(count, sizeof count,
                 "CREATE OR REPLACE VIEW here AS SELECT COUNT(*) AS n FROM ledger_entry "
                 "PARTITION (%s)",
                 cases[i].partition);
        test_mariadb_sql(*state, "days", count);
        assert_int_equal(test_number(db, "SELECT n FROM here"), 1);
    }
    /* a week later the days between are made in one go */
    assert_int_equal(
        tg_store_entry_partitions_ensure(db, MARCH_2027 + INT64_C(7) * 86400000000, 7, NULL),
        TG_OK);
    assert_int_equal(test_number(db, "SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE "
                                     "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'ledger_entry'"),
                     2 + 8 + 1);
    tg_db_release(db);
    tg_db_pool_free(pool);
}

static int start(void **state)
{
    *state = test_mariadb_start();
    return 0;
}

static int stop(void **state)
{
    test_mariadb_stop(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_databases_are_made_and_a_second_run_changes_nothing),
        cmocka_unit_test(every_file_can_be_run_again),
        cmocka_unit_test(two_processes_at_once_apply_each_file_once),
        cmocka_unit_test(a_file_that_broke_half_way_is_run_again),
        cmocka_unit_test(an_empty_folder_is_an_error),
        cmocka_unit_test(months_are_made_ahead_and_dropped),
        cmocka_unit_test(entries_lie_in_the_day_of_their_id),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
