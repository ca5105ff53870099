#include "tests/unit/unit.h"

#include "tests/unit/daemon/books.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct tg_db *connect_to(struct tg_db_pool *pool)
{
    struct tg_db *db;
    struct tg_error err;

    if (tg_db_acquire(pool, tg_now_us() + INT64_C(10000000), &db, &err) != TG_OK)
        fail_msg("%s", err.message);
    return db;
}

/* Without the comments: test_mariadb_sql would take a ';' in one for an end. */
static char *read_statements(const char *path)
{
    FILE *file = fopen(path, "r");
    struct tg_buf text;
    char line[1024];

    assert_non_null(file);
    tg_buf_init(&text, 0);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line + strspn(line, " "), "--", 2) != 0)
            tg_buf_str(&text, line);
    fclose(file);
    return text.data;
}

static void run_folder(struct books *books, const char *folder, const char *schema)
{
    const char *source = getenv("TOLLGATE_SOURCE");
    char pattern[512];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/sql/%s/*.sql", source == NULL ? "." : source, folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_statements(found.gl_pathv[i]);

        test_mariadb_sql(books->server, schema, text);
        free(text);
    }
    globfree(&found);
}

struct books *books_start(void)
{
    struct books *books = tg_calloc(1, sizeof *books);

    books->server = test_mariadb_start();
    books->main_pool = test_mariadb_pool(books->server, "books", 8);
    books->log_pool = test_mariadb_pool(books->server, "books_log", 8);
    run_folder(books, "main", "books");
    run_folder(books, "log", "books_log");
    books->main_db = connect_to(books->main_pool);
    books->log_db = connect_to(books->log_pool);
    books_reset(books);
    return books;
}

void books_stop(struct books *books)
{
    if (books == NULL)
        return;
    tg_db_release(books->main_db);
    tg_db_release(books->log_db);
    tg_db_pool_free(books->main_pool);
    tg_db_pool_free(books->log_pool);
    test_mariadb_stop(books->server);
    free(books);
}

void books_run(struct books *books, const char *sql)
{
    test_mariadb_sql(books->server, "books", sql);
}

void books_reset(struct books *books)
{
    static const int64_t users[] = {1, 2, 65};
    char sql[1024];

    books_run(books, "DELETE FROM ledger_entry; DELETE FROM ledger_day; DELETE FROM ledger_reject;"
                     "DELETE FROM ledger_rebuild; DELETE FROM credits; DELETE FROM adjustments;"
                     "DELETE FROM offline_hold; DELETE FROM offline_entry; DELETE FROM log_batch;"
                     "DELETE FROM users; DELETE FROM tokens; DELETE FROM subscriptions;"
                     "DELETE FROM node; DELETE FROM node_lease; DELETE FROM ledger_doubt;"
                     "DELETE FROM ledger_lapse; DELETE FROM plan_resets; DELETE FROM plans;"
                     "DELETE FROM ledger_worker_end;"
                     "UPDATE ledger_cursor SET epoch = 1, run_id = 'run', stream_id = '0-0'");
    test_mariadb_sql(books->server, "books_log",
                     "DELETE FROM request_log; DELETE FROM request_detail;"
                     "DELETE FROM usage_hourly; DELETE FROM log_applied");
    for (size_t i = 0; i < TG_COUNT_OF(users); i++) {
        struct tg_id id = tg_id_new();
        char text[TG_ID_TEXT];

        tg_id_format(&id, text);
        snprintf(sql, sizeof sql,
                 "INSERT INTO users (id, username, quota) VALUES (%" PRId64 ", 'u%" PRId64
                 "', 1000); INSERT INTO tokens (id, key_hmac, user_id, remain_quota) VALUES"
                 " (%" PRId64 ", '%" PRId64 "', %" PRId64 ", 500);"
                 "INSERT INTO credits (entry_id, user_id, amount_quota, kind, applied_at) VALUES"
                 " (UNHEX(REPLACE('%s', '-', '')), %" PRId64 ", 1000, 'topup', NOW(6));"
                 "INSERT INTO ledger_entry (request_id, shard, kind, user_id, amount_quota, batch,"
                 " at) VALUES (UNHEX(REPLACE('%s', '-', '')), %" PRId64 ", 'credit', %" PRId64
                 ", -1000, '', NOW(6))",
                 users[i], users[i], books_token_of(users[i]), users[i], users[i], text, users[i],
                 text, users[i] % 64, users[i]);
        books_run(books, sql);
    }
}

static int64_t number(struct tg_db *db, const char *sql)
{
    struct tg_db_rows *rows;
    int64_t value;

    if (tg_db_select(db, sql, NULL, 0, &rows) != TG_OK)
        fail_msg("%s", tg_db_error(db)->message);
    assert_true(tg_db_next(rows));
    value = tg_db_int(rows, 0);
    tg_db_rows_free(rows);
    return value;
}

int64_t books_main(struct books *books, const char *sql)
{
    return number(books->main_db, sql);
}

int64_t books_log(struct books *books, const char *sql)
{
    return number(books->log_db, sql);
}

int64_t books_token_of(int64_t user)
{
    return user < 64 ? 10 + user : 100 + user;
}

const struct tg_entry *books_charge(int64_t user, int64_t amount)
{
    static struct tg_entry ring[64];
    static char records[64][1024];
    static size_t next;
    size_t at = next++ % TG_COUNT_OF(ring);
    struct tg_entry *entry = &ring[at];
    char id[TG_ID_TEXT], made[TG_TIME_TEXT];
    int len;

    *entry = (struct tg_entry){.id = tg_id_new(),
                               .kind = TG_ENTRY_CHARGE,
                               .user_id = user,
                               .token_id = books_token_of(user),
                               .channel_id = 7,
                               .amount_quota = amount,
                               .token_unlimited = -1};
    tg_id_format(&entry->id, id);
    tg_time_format_sql(tg_id_unix_ms(&entry->id) * 1000, made);
    len = snprintf(records[at], sizeof records[at],
                   "{\"log\":{\"request_id\":\"%s\",\"created_at\":\"%s\",\"user_id\":%" PRId64
                   ",\"token_id\":%" PRId64 ",\"served_model\":\"m\",\"stream\":1,\"input\":3,"
                   "\"quota\":%" PRId64 ",\"total_us\":250000,\"unknown\":[1],"
                   "\"stages_json\":{\"access\":12}},"
                   "\"detail\":{\"attempts_json\":[{\"channel\":7}],"
                   "\"bill_json\":{\"a\":\"\\u00e9\"}}}",
                   id, made, user, entry->token_id, amount);
    entry->record = (struct tg_span){.ptr = records[at], .len = (size_t)len};
    return entry;
}
