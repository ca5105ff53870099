#include "common/store/journal.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/store/entry_rows.h"
#include "common/store/ids.h"
#include "common/store/log_batch.h"
#include "common/store/movement.h"
#include "common/store/offline.h"
#include "common/store/pending.h"
#include "common/store/plan_fold.h"
#include "common/store/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one transaction works with. */
struct work {
    struct tg_db *db;
    const struct tg_journal_batch *batch;
    struct tg_error *err;
    struct tg_id id;                /* marks the rows of this batch */
    struct tg_buf json;             /* the parameter being made */
    size_t inserted;                /* rows, by the server's count */
    const struct tg_entry **fresh;  /* really inserted */
    size_t fresh_count;
    struct tg_entry *decided;       /* those of <fresh> whose plans were decided here */
    char cursor[TG_STREAM_ID_TEXT]; /* as found */
};

static bool stream_id_parse(const char *text, uint64_t *ret_ms, uint64_t *ret_seq)
{
    return sscanf(text, "%" SCNu64 "-%" SCNu64, ret_ms, ret_seq) == 2;
}

int tg_stream_id_compare(const char *a, const char *b)
{
    uint64_t ms[2] = {0, 0}, seq[2] = {0, 0};

    if (!stream_id_parse(a, &ms[0], &seq[0]))
        ms[0] = seq[0] = 0;
    if (!stream_id_parse(b, &ms[1], &seq[1]))
        ms[1] = seq[1] = 0;
    if (ms[0] != ms[1])
        return ms[0] < ms[1] ? -1 : 1;
    return seq[0] < seq[1] ? -1 : seq[0] > seq[1];
}

static void id_list(struct tg_buf *out, const struct tg_entry *const *entries, size_t count)
{
    tg_buf_reset(out);
    for (size_t i = 0; i < count; i++)
        tg_ids_add(out, &entries[i]->id);
    tg_ids_end(out);
}

static enum tg_class lock_cursor(struct work *work)
{
    static const char sql[] = "SELECT epoch, run_id, stream_id,"
                              " ? IS NULL OR IS_USED_LOCK(?) <=> CONNECTION_ID()"
                              " FROM ledger_cursor WHERE shard = ? FOR UPDATE";
    const struct tg_journal_batch *batch = work->batch;
    struct tg_db_value values[] = {TG_DB_S(batch->lock), TG_DB_S(batch->lock),
                                   TG_DB_I(batch->shard)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(work->db, sql, values, 3, &rows);

    if (class != TG_OK)
        return tg_store_failed(work->db, class, work->err);
    if (!tg_db_next(rows)) {
        class = tg_fail(work->err, TG_CLASS_INTERNAL, "ledger_no_cursor",
                        "shard %d has no row in ledger_cursor", batch->shard);
    } else if (tg_db_int(rows, 0) != batch->epoch ||
               strcmp(tg_db_text(rows, 1), batch->run_id) != 0 || tg_db_int(rows, 3) == 0) {
        class = tg_fail(work->err, TG_CLASS_CONFLICT, "ledger_moved",
                        "shard %d is of epoch %" PRId64 " now, not %" PRId64
                        ", or of another server or owner",
                        batch->shard, tg_db_int(rows, 0), batch->epoch);
    } else {
        snprintf(work->cursor, sizeof work->cursor, "%s", tg_db_text(rows, 2));
    }
    tg_db_rows_free(rows);
    return class;
}

static struct tg_entry_rows rows_of(const struct work *work)
{
    return (struct tg_entry_rows){.entries = work->batch->entries,
                                  .count = work->batch->count,
                                  .shard = work->batch->shard,
                                  .batch = work->id};
}

static enum tg_class insert_entries(struct work *work)
{
    const struct tg_entry_rows rows = rows_of(work);

    return tg_entry_rows_insert(work->db, &rows, &work->inserted, work->err);
}

/* One row of find_fresh: takes the entry unless its account does not exist. */
static enum tg_class take_fresh(struct work *work, const struct tg_db_rows *rows)
{
    const struct tg_entry *entry = work->batch->entries[tg_db_int(rows, 0) - 1];
    char id[TG_ID_TEXT];

    if (tg_db_int(rows, 1) != 0) {
        tg_id_format(&entry->id, id);
        return tg_fail(work->err, TG_CLASS_INTERNAL, "ledger_unknown_account",
                       "entry %s names user %" PRId64 ", token %" PRId64 ", plan %" PRId64
                       ": one of them does not exist",
                       id, entry->user_id, entry->token_id, entry->funding.plan_id);
    }
    work->fresh[work->fresh_count++] = entry;
    return TG_OK;
}

/* An id that the stream holds twice was inserted once. STRAIGHT_JOIN: the batch is small,
 * ledger_entry is not. */
static enum tg_class look_for_fresh(struct work *work)
{
    static const char sql[] =
        "SELECT MIN(e.n), MAX(u.id IS NULL OR (l.token_id <> 0 AND t.id IS NULL)"
        " OR (l.plan_id <> 0 AND s.id IS NULL))"
        " FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY, entry CHAR(36) PATH '$')) AS e"
        " STRAIGHT_JOIN ledger_entry l ON l.request_id = UNHEX(REPLACE(e.entry, '-', ''))"
        " LEFT JOIN users u ON u.id = l.user_id LEFT JOIN tokens t ON t.id = l.token_id"
        " LEFT JOIN subscriptions s ON s.id = l.plan_id WHERE l.batch = ?"
        " GROUP BY l.request_id ORDER BY 1";
    struct tg_db_rows *rows;
    enum tg_class class;

    id_list(&work->json, work->batch->entries, work->batch->count);
    struct tg_db_value values[] = {TG_DB_S(tg_buf_text(&work->json)),
                                   TG_DB_B(work->id.bytes, TG_ID_BYTES)};
    class = tg_db_select(work->db, sql, values, 2, &rows);
    if (class != TG_OK)
        return tg_store_failed(work->db, class, work->err);
    while (class == TG_OK && tg_db_next(rows))
        class = take_fresh(work, rows);
    tg_db_rows_free(rows);
    return class;
}

/* As a rule all are new, and the server has said so. */
static enum tg_class find_fresh(struct work *work)
{
    const struct tg_entry_rows rows = rows_of(work);
    bool all = false;
    enum tg_class class = TG_OK;

    if (work->inserted == rows.count)
        class = tg_entry_rows_have_accounts(work->db, &rows, &all, work->err);
    if (class != TG_OK || !all)
        return class != TG_OK ? class : look_for_fresh(work);
    memcpy(work->fresh, rows.entries, rows.count * sizeof(void *));
    work->fresh_count = rows.count;
    return TG_OK;
}

static enum tg_class decide_plans(struct work *work)
{
    size_t count = 0;
    enum tg_class class;

    if (!work->batch->decide_plans)
        return TG_OK;
    work->decided = tg_calloc(work->fresh_count + 1, sizeof *work->decided);
    for (size_t i = 0; i < work->fresh_count; i++)
        if (work->fresh[i]->funding.plan_id != 0)
            work->decided[count++] = *work->fresh[i];
    class = tg_plan_fold(work->db, work->decided, count, work->err);
    count = 0;
    for (size_t i = 0; class == TG_OK && i < work->fresh_count; i++)
        if (work->fresh[i]->funding.plan_id != 0)
            work->fresh[i] = &work->decided[count++];
    return class;
}

static enum tg_class move_balances(struct work *work)
{
    static const char users[] =
        "UPDATE users u JOIN JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]',"
        " quota BIGINT PATH '$[1]', used BIGINT PATH '$[2]', requests BIGINT PATH '$[3]',"
        " authver BIGINT PATH '$[4]')) AS m ON m.id = u.id"
        " SET u.quota = u.quota - m.quota, u.used_quota = u.used_quota + m.used,"
        " u.request_count = u.request_count + m.requests,"
        " u.authver = GREATEST(u.authver, m.authver)";
    static const char tokens[] =
        "UPDATE tokens t JOIN JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]',"
        " remain BIGINT PATH '$[1]', used BIGINT PATH '$[2]', unlimited INT PATH '$[3]')) AS m"
        " ON m.id = t.id SET t.remain_quota = t.remain_quota - m.remain,"
        " t.used_quota = t.used_quota + m.used,"
        " t.unlimited = IF(m.unlimited < 0, t.unlimited, m.unlimited)";
    static const char plans[] =
        "UPDATE subscriptions s JOIN JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]',"
        " remain BIGINT PATH '$[1]', period BIGINT PATH '$[2]')) AS m ON m.id = s.id"
        " SET s.remain_quota = s.remain_quota - m.remain,"
        " s.period_number = GREATEST(s.period_number, m.period)";
    static const struct {
        const char *sql;
        void (*sums)(const struct tg_entry *const *entries, size_t count, struct tg_buf *out);
    } steps[] = {
        {users, tg_movement_users}, {tokens, tg_movement_tokens}, {plans, tg_movement_plans}};
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < TG_COUNT_OF(steps) && class == TG_OK; i++) {
        tg_buf_reset(&work->json);
        steps[i].sums(work->fresh, work->fresh_count, &work->json);
        struct tg_db_value sums = TG_DB_S(tg_buf_text(&work->json));
        if (work->json.len > strlen("[]"))
            class = tg_db_run(work->db, steps[i].sql, &sums, 1, work->err);
    }
    return class;
}

/* All entries of the batch, known ones too: an offline row of a request that has its end (told by
 * another way) would otherwise bind its money for ever. */
static enum tg_class clear_offline(struct work *work)
{
    id_list(&work->json, work->batch->entries, work->batch->count);
    return tg_offline_clear(work->db, tg_buf_text(&work->json), work->err);
}

static enum tg_class mark_applied(struct work *work)
{
    const struct tg_journal_batch *batch = work->batch;
    bool wanted = false;

    for (size_t i = 0; i < batch->count && !wanted; i++)
        wanted = !tg_entry_is_request(batch->entries[i]);
    if (!wanted)
        return TG_OK;
    id_list(&work->json, batch->entries, batch->count);
    return tg_pending_mark(work->db, tg_buf_text(&work->json), work->err);
}

static enum tg_class set_cursor(struct work *work)
{
    static const char sql[] = "UPDATE ledger_cursor SET stream_id = ?, epoch = ?, run_id = ?,"
                              " updated_at = NOW(6) WHERE shard = ?";
    const struct tg_journal_batch *batch = work->batch;
    const struct tg_journal_renewal *renewal = batch->renewal;
    const char *stream_id = batch->stream_id;

    if (stream_id == NULL || (!batch->cursor_may_go_back &&
                              tg_stream_id_compare(stream_id, work->cursor) < 0))
        stream_id = work->cursor;
    struct tg_db_value values[] = {
        TG_DB_S(stream_id), TG_DB_I(renewal == NULL ? batch->epoch : renewal->epoch),
        TG_DB_S(renewal == NULL ? batch->run_id : renewal->run_id), TG_DB_I(batch->shard)};
    return tg_db_run(work->db, sql, values, 4, work->err);
}

static enum tg_class enter_entries(struct work *work)
{
    static enum tg_class (*const steps[])(struct work *) = {insert_entries, find_fresh,
                                                            decide_plans, move_balances,
                                                            clear_offline, mark_applied};
    enum tg_class class = TG_OK;

    if (work->batch->count == 0)
        return TG_OK;
    for (size_t i = 0; i < TG_COUNT_OF(steps) && class == TG_OK; i++)
        class = steps[i](work);
    if (class == TG_OK)
        class = tg_log_batch_keep(work->db,
                                  &(struct tg_log_batch_new){.id = work->id,
                                                             .shard = work->batch->shard,
                                                             .entries = work->fresh,
                                                             .count = work->fresh_count},
                                  work->err);
    return class;
}

enum tg_class tg_journal_apply(struct tg_db *db, const struct tg_journal_batch *batch,
                               size_t *ret_inserted, struct tg_error *err)
{
    struct tg_error unused = {0};
    struct work work = {.db = db, .batch = batch, .err = err != NULL ? err : &unused,
                        .id = tg_id_new()};
    enum tg_class class;

    tg_buf_init(&work.json, 0);
    work.fresh = tg_calloc(batch->count + 1, sizeof(void *));
    class = tg_db_begin(db, work.err);
    if (class == TG_OK)
        class = lock_cursor(&work);
    if (class == TG_OK)
        class = enter_entries(&work);
    if (class == TG_OK)
        class = set_cursor(&work);
    if (class == TG_OK)
        class = tg_db_commit(db, work.err);
    if (class != TG_OK)
        tg_db_rollback(db);
    else
        *ret_inserted = work.fresh_count;
    free(work.fresh);
    free(work.decided);
    tg_buf_done(&work.json);
    return class;
}

static enum tg_class insert_reject(struct tg_db *db, int shard,
                                   const struct tg_journal_refused *refused, struct tg_error *err)
{
    /* a spool line comes by again and again: kept once */
    static const char sql[] =
        "INSERT INTO ledger_reject (shard, stream_id, request_id, body, reason)"
        " SELECT ?, ?, ?, ?, ? FROM (SELECT 1) AS one WHERE NOT EXISTS"
        " (SELECT 1 FROM ledger_reject WHERE request_id = ? AND stream_id = ?)";
    const struct tg_entry *entry = refused->entry;
    struct tg_buf text;
    char reason[512]; /* what the column holds */
    enum tg_class class;

    tg_buf_init(&text, 0);
    if (entry != NULL)
        tg_entry_encode(entry, &text);
    snprintf(reason, sizeof reason, "%s", refused->reason);
    struct tg_db_value id = entry == NULL ? TG_DB_N : TG_DB_B(entry->id.bytes, TG_ID_BYTES);
    struct tg_db_value values[] = {TG_DB_I(shard), TG_DB_S(refused->stream_id), id,
                                   TG_DB_S(tg_buf_text(&text)), TG_DB_S(reason), id,
                                   TG_DB_S(refused->stream_id)};
    class = tg_db_run(db, sql, values, 7, err);
    tg_buf_done(&text);
    return class;
}

enum tg_class tg_journal_refuse(struct tg_db *db, const struct tg_journal_batch *batch,
                                const struct tg_journal_refused *refused, struct tg_error *err)
{
    struct tg_error unused = {0};
    struct work work = {.db = db, .batch = batch, .err = err != NULL ? err : &unused};
    enum tg_class class = tg_db_begin(db, work.err);

    if (class == TG_OK)
        class = lock_cursor(&work);
    if (class == TG_OK)
        class = insert_reject(db, batch->shard, refused, work.err);
    if (class == TG_OK)
        class = set_cursor(&work);
    if (class == TG_OK)
        class = tg_db_commit(db, work.err);
    if (class != TG_OK)
        tg_db_rollback(db);
    return class;
}

enum tg_class tg_journal_refuse_alone(struct tg_db *db, int shard,
                                      const struct tg_journal_refused *refused,
                                      struct tg_error *err)
{
    return insert_reject(db, shard, refused, err);
}

/* The name carries the database: named locks are the whole server's, and 64 bytes at most. */
enum tg_class tg_journal_lock(struct tg_db *db, int shard, char ret_name[TG_JOURNAL_LOCK_TEXT],
                              bool *ret_got, struct tg_error *err)
{
    static const char sql[] =
        "SELECT n.name, COALESCE(GET_LOCK(n.name, 0), 0) FROM"
        " (SELECT CONCAT('tollgate_shard_', ?, '_', LEFT(SHA1(DATABASE()), 16)) AS name) AS n";
    struct tg_db_value values[] = {TG_DB_I(shard)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, 1, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret_got = tg_db_next(rows) && tg_db_int(rows, 1) == 1;
    snprintf(ret_name, TG_JOURNAL_LOCK_TEXT, "%s", *ret_got ? tg_db_text(rows, 0) : "");
    tg_db_rows_free(rows);
    return TG_OK;
}

void tg_journal_unlock(struct tg_db *db, const char *name)
{
    static const char sql[] = "SELECT RELEASE_LOCK(?)";
    struct tg_db_value values[] = {TG_DB_S(name)};
    struct tg_db_rows *rows;

    /* a lost connection has released it already */
    if (tg_db_select(db, sql, values, 1, &rows) == TG_OK)
        tg_db_rows_free(rows);
}
