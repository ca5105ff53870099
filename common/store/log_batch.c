#include "common/store/log_batch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop.h"
#include "common/compress/zstd.h"
#include "common/json/scan.h"
#include "common/json/writer.h"
#include "common/store/ids.h"
#include "common/store/log_rows.h"
#include "common/store/movement.h"
#include "common/store/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch's records, unpacked: 10,000 entries of 100 KiB each. */
static const size_t most_bytes = (size_t)1 << 30;
/* Batches go into the log together up to here: many of them are small. */
static const size_t bytes_together = (size_t)4 << 20;

void tg_record_bare(const struct tg_entry *entry, const char *node, const char *end_reason,
                    struct tg_buf *out)
{
    char id[TG_ID_TEXT], at[TG_TIME_TEXT], funding[32] = "wallet";
    struct tg_json_writer json;

    tg_id_format(&entry->id, id);
    tg_time_format_sql(tg_id_unix_ms(&entry->id) * 1000, at);
    if (entry->funding.plan_id != 0)
        snprintf(funding, sizeof funding, "plan:%" PRId64, entry->funding.plan_id);
    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_json_key(&json, "log");
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "request_id", id);
    tg_json_put_str(&json, "created_at", at);
    tg_json_put_str(&json, "node", node);
    tg_json_put_int(&json, "user_id", entry->user_id);
    tg_json_put_int(&json, "token_id", entry->token_id);
    tg_json_put_int(&json, "channel_id", entry->channel_id);
    tg_json_put_str(&json, "end_reason", end_reason);
    tg_json_put_str(&json, "funding", funding);
    tg_json_put_int(&json, "quota", entry->amount_quota);
    tg_json_end_object(&json);
    tg_json_end_object(&json);
}

/* Strict JSON with a log object that names this request? */
static bool record_fits(const struct tg_entry *entry)
{
    struct tg_span record = entry->record;
    struct tg_json_place place;
    char id[TG_ID_TEXT], text[TG_ID_TEXT];

    if (record.len == 0 || tg_json_check(record.ptr, record.len, NULL) != TG_OK ||
        !tg_json_find(record.ptr, record.len, "log.request_id", &place) ||
        !tg_json_place_string(record.ptr, &place, text, sizeof text))
        return false;
    tg_id_format(&entry->id, id);
    return strcmp(id, text) == 0;
}

static void add_line(const struct tg_entry *entry, struct tg_buf *lines)
{
    size_t start = lines->len;

    if (record_fits(entry))
        tg_buf_add(lines, entry->record.ptr, entry->record.len);
    else
        tg_record_bare(entry, "", "internal", lines);
    /* a line break can only stand between two values: inside a string JSON escapes it */
    for (size_t i = start; i < lines->len; i++)
        if (lines->data[i] == '\n')
            lines->data[i] = ' ';
    tg_buf_char(lines, '\n');
}

enum tg_class tg_log_batch_keep(struct tg_db *main_db, const struct tg_log_batch_new *batch,
                                struct tg_error *err)
{
    static const char sql[] = "INSERT INTO log_batch (id, shard, body) VALUES (?, ?, ?)";
    struct tg_buf lines, packed;
    enum tg_class class = TG_OK;

    tg_buf_init(&lines, most_bytes);
    tg_buf_init(&packed, 0);
    for (size_t i = 0; i < batch->count; i++)
        if (tg_entry_is_request(batch->entries[i]))
            add_line(batch->entries[i], &lines);
    if (lines.failed)
        class = tg_fail(err, TG_CLASS_INTERNAL, "log_batch_large",
                        "the records of one batch are larger than %zu bytes", most_bytes);
    if (class == TG_OK && lines.len > 0) {
        class = tg_zstd_pack(lines.data, lines.len, &packed, err);
        struct tg_db_value values[] = {TG_DB_B(batch->id.bytes, TG_ID_BYTES),
                                       TG_DB_I(batch->shard), TG_DB_B(packed.data, packed.len)};
        if (class == TG_OK)
            class = tg_db_run(main_db, sql, values, 3, err);
    }
    tg_buf_done(&packed);
    tg_buf_done(&lines);
    return class;
}

void tg_log_batches_free(struct tg_log_batch *batches, size_t count)
{
    if (batches == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        tg_buf_done(&batches[i].records);
    free(batches);
}

enum tg_class tg_log_batch_oldest(struct tg_db *main_db, int most, struct tg_log_batch **ret,
                                  size_t *ret_count, struct tg_error *err)
{
    static const char sql[] = "SELECT id, body FROM log_batch ORDER BY id LIMIT ?";
    struct tg_db_value values[] = {TG_DB_I(most)};
    struct tg_log_batch *list;
    struct tg_db_rows *rows;
    size_t count = 0;
    enum tg_class class = tg_db_select(main_db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(main_db, class, err);
    list = tg_calloc((size_t)most + 1, sizeof *list);
    while (class == TG_OK && tg_db_next(rows)) {
        struct tg_log_batch *batch = &list[count++];

        memcpy(batch->id.bytes, tg_db_bytes(rows, 0).ptr, TG_ID_BYTES);
        tg_buf_init(&batch->records, 0);
        class = tg_zstd_unpack(tg_db_bytes(rows, 1), most_bytes, &batch->records, err);
    }
    tg_db_rows_free(rows);
    if (class != TG_OK) {
        tg_log_batches_free(list, count);
        return class;
    }
    *ret = list;
    *ret_count = count;
    return TG_OK;
}

static enum tg_class run_with_ids(struct tg_db *db, const char *sql,
                                  const struct tg_log_batch *batches, size_t count,
                                  struct tg_error *err)
{
    struct tg_db_value ids;
    struct tg_buf json;
    enum tg_class class;

    tg_buf_init(&json, 0);
    for (size_t i = 0; i < count; i++)
        tg_ids_add(&json, &batches[i].id);
    tg_ids_end(&json);
    ids = TG_DB_S(tg_buf_text(&json));
    class = tg_db_run(db, sql, &ids, 1, err);
    tg_buf_done(&json);
    return class;
}

/* A duplicate key says that one of them is there already. */
static enum tg_class enter_together(struct tg_db *log_db, const struct tg_log_batch *batches,
                                    size_t count, struct tg_error *err)
{
    static const char claim[] =
        "INSERT INTO log_applied (batch_id) SELECT UNHEX(REPLACE(e.batch, '-', '')) FROM"
        " JSON_TABLE(?, '$[*]' COLUMNS (batch CHAR(36) PATH '$')) AS e";
    struct tg_buf lines;
    enum tg_class class = tg_db_begin(log_db, err);

    tg_buf_init(&lines, 0);
    for (size_t i = 0; i < count; i++)
        tg_buf_str(&lines, tg_buf_text(&batches[i].records));
    if (class == TG_OK)
        class = run_with_ids(log_db, claim, batches, count, err);
    if (class == TG_OK)
        class = tg_log_rows_enter(log_db, tg_buf_text(&lines), err);
    if (class == TG_OK)
        class = tg_db_commit(log_db, err);
    if (class != TG_OK)
        tg_db_rollback(log_db);
    tg_buf_done(&lines);
    return class;
}

enum tg_class tg_log_batch_enter(struct tg_db *log_db, const struct tg_log_batch *batches,
                                 size_t count, struct tg_error *err)
{
    struct tg_error why;
    enum tg_class class = enter_together(log_db, batches, count, &why);

    if (tg_store_is_duplicate(class, &why) && count > 1) {
        class = TG_OK;
        for (size_t i = 0; class == TG_OK && i < count; i++)
            class = tg_log_batch_enter(log_db, &batches[i], 1, &why);
    } else if (tg_store_is_duplicate(class, &why)) {
        class = TG_OK; /* done before */
    }
    if (class != TG_OK && err != NULL)
        *err = why;
    return class;
}

enum tg_class tg_log_batch_drop(struct tg_db *main_db, const struct tg_log_batch *batches,
                                size_t count, struct tg_error *err)
{
    static const char sql[] =
        "DELETE b FROM log_batch b JOIN"
        " JSON_TABLE(?, '$[*]' COLUMNS (batch CHAR(36) PATH '$')) AS e"
        " ON b.id = UNHEX(REPLACE(e.batch, '-', ''))";

    return run_with_ids(main_db, sql, batches, count, err);
}

enum tg_class tg_log_batch_move(struct tg_db *main_db, struct tg_db *log_db, int most,
                                size_t *ret_moved, struct tg_error *err)
{
    struct tg_log_batch *batches = NULL;
    size_t count = 0, moved = 0;
    enum tg_class class = tg_log_batch_oldest(main_db, most, &batches, &count, err);

    while (class == TG_OK && moved < count) {
        size_t together = 1, bytes = batches[moved].records.len;

        while (moved + together < count && bytes < bytes_together)
            bytes += batches[moved + together++].records.len;
        class = tg_log_batch_enter(log_db, &batches[moved], together, err);
        TG_STOP("entered");
        if (class == TG_OK)
            class = tg_log_batch_drop(main_db, &batches[moved], together, err);
        moved += class == TG_OK ? together : 0;
    }
    tg_log_batches_free(batches, count);
    *ret_moved = moved;
    return class;
}

/* A batch can only be repeated while main still has it, so rows a week older than the oldest batch
 * (or, when none waits, than now) have no use: main restored from yesterday's copy is covered. */
enum tg_class tg_log_applied_trim(struct tg_db *main_db, struct tg_db *log_db,
                                  struct tg_error *err)
{
    static const char oldest[] =
        "SELECT COALESCE(MIN(at), NOW(6)) - INTERVAL 7 DAY FROM log_batch";
    enum { PIECE = 10000 }; /* a short transaction each */
    static const char trim[] = "DELETE FROM log_applied WHERE at < ? LIMIT ?";
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(main_db, oldest, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(main_db, class, err);
    if (tg_db_next(rows)) {
        struct tg_db_value values[] = {TG_DB_S(tg_db_text(rows, 0)), TG_DB_I(PIECE)};

        do {
            class = tg_db_run(log_db, trim, values, 2, err);
        } while (class == TG_OK && tg_db_done(log_db).affected == PIECE);
    }
    tg_db_rows_free(rows);
    return class;
}
