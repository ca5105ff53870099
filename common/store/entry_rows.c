#include "common/store/entry_rows.h"

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/store/read.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Prepared statements of these many rows, the largest that fits first. */
static const size_t row_counts[] = {64, 8, 1};
enum { ROW_COUNTS = TG_COUNT_OF(row_counts), COLUMNS = 11 };

static char *inserts[ROW_COUNTS]; /* made once, constant then */

static void make_inserts(void)
{
    for (int i = 0; i < ROW_COUNTS; i++) {
        struct tg_buf sql;

        tg_buf_init(&sql, 0);
        tg_buf_str(&sql, "INSERT INTO ledger_entry (request_id, shard, kind, user_id, token_id,"
                         " channel_id, plan_id, plan_quota, plan_period, amount_quota, batch, at)"
                         " VALUES ");
        for (size_t row = 0; row < row_counts[i]; row++)
            tg_buf_printf(&sql, "%s(?,?,?,?,?,?,?,?,?,?,?,NOW(6))", row == 0 ? "" : ",");
        tg_buf_str(&sql,
                   " ON DUPLICATE KEY UPDATE ledger_entry.request_id = ledger_entry.request_id");
        inserts[i] = sql.data;
    }
}

static void put_row(const struct tg_entry_rows *rows, const struct tg_entry *entry,
                    struct tg_db_value *to)
{
    const struct tg_db_value values[COLUMNS] = {TG_DB_B(entry->id.bytes, TG_ID_BYTES),
                                                TG_DB_I(rows->shard),
                                                TG_DB_S(tg_entry_kind_name(entry->kind)),
                                                TG_DB_I(entry->user_id),
                                                TG_DB_I(entry->token_id),
                                                TG_DB_I(entry->channel_id),
                                                TG_DB_I(entry->funding.plan_id),
                                                TG_DB_I(entry->plan_quota),
                                                TG_DB_I(entry->funding.period),
                                                TG_DB_I(entry->amount_quota),
                                                TG_DB_B(rows->batch.bytes, TG_ID_BYTES)};

    memcpy(to, values, sizeof values);
}

enum tg_class tg_entry_rows_insert(struct tg_db *db, const struct tg_entry_rows *rows,
                                   size_t *ret_inserted, struct tg_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct tg_db_value *values = tg_calloc(row_counts[0] * COLUMNS, sizeof *values);
    enum tg_class class = TG_OK;

    pthread_once(&once, make_inserts);
    *ret_inserted = 0;
    for (size_t at = 0; class == TG_OK && at < rows->count;) {
        int size = 0;

        while (row_counts[size] > rows->count - at)
            size++;
        for (size_t i = 0; i < row_counts[size]; i++)
            put_row(rows, rows->entries[at + i], values + i * COLUMNS);
        class = tg_db_run(db, inserts[size], values, row_counts[size] * COLUMNS, err);
        if (class == TG_OK)
            *ret_inserted += (size_t)tg_db_done(db).affected;
        at += row_counts[size];
    }
    free(values);
    return class;
}

/* ---- accounts */

static bool same_accounts(const struct tg_entry *a, const struct tg_entry *b)
{
    return a->user_id == b->user_id && a->token_id == b->token_id &&
           a->funding.plan_id == b->funding.plan_id;
}

static int by_accounts(const void *a, const void *b)
{
    const struct tg_entry *x = *(const struct tg_entry *const *)a;
    const struct tg_entry *y = *(const struct tg_entry *const *)b;

    if (x->user_id != y->user_id)
        return x->user_id < y->user_id ? -1 : 1;
    if (x->token_id != y->token_id)
        return x->token_id < y->token_id ? -1 : 1;
    return (x->funding.plan_id > y->funding.plan_id) - (x->funding.plan_id < y->funding.plan_id);
}

/* [[user, token, plan], ...], each once. */
static void list_accounts(const struct tg_entry_rows *rows, struct tg_buf *json)
{
    const struct tg_entry **list = tg_calloc(rows->count + 1, sizeof(void *));

    for (size_t i = 0; i < rows->count; i++)
        list[i] = rows->entries[i];
    qsort(list, rows->count, sizeof(void *), by_accounts);
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0 && same_accounts(list[i], list[i - 1]))
            continue;
        tg_buf_printf(json, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 "]", i == 0 ? "[" : ",",
                      list[i]->user_id, list[i]->token_id, list[i]->funding.plan_id);
    }
    tg_buf_char(json, ']');
    free(list);
}

enum tg_class tg_entry_rows_have_accounts(struct tg_db *db, const struct tg_entry_rows *rows,
                                          bool *ret, struct tg_error *err)
{
    static const char sql[] =
        "SELECT EXISTS (SELECT 1 FROM JSON_TABLE(?, '$[*]' COLUMNS (account BIGINT PATH '$[0]',"
        " token BIGINT PATH '$[1]', plan BIGINT PATH '$[2]')) AS e"
        " LEFT JOIN users u ON u.id = e.account LEFT JOIN tokens t ON t.id = e.token"
        " LEFT JOIN subscriptions s ON s.id = e.plan WHERE u.id IS NULL"
        " OR (e.token <> 0 AND t.id IS NULL) OR (e.plan <> 0 AND s.id IS NULL))";
    struct tg_db_value accounts;
    struct tg_db_rows *found;
    struct tg_buf json;
    enum tg_class class;

    tg_buf_init(&json, 0);
    list_accounts(rows, &json);
    accounts = TG_DB_S(tg_buf_text(&json));
    class = tg_db_select(db, sql, &accounts, 1, &found);
    tg_buf_done(&json);
    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret = tg_db_next(found) && tg_db_int(found, 0) == 0;
    tg_db_rows_free(found);
    return TG_OK;
}
