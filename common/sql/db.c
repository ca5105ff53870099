#include "common/sql/db.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sql/connection.h"
#include "common/sql/link.h"

struct tg_db {
    struct tg_db_pool *pool;
    const struct tg_db_target *target;
    struct tg_link *link; /* NULL: not connected */
    bool in_transaction;
    enum tg_class broken; /* why the open transaction cannot go on */
    struct tg_db_done done;
    struct tg_error error;
};

struct tg_db_value tg_db_string(const char *text)
{
    if (text == NULL)
        return TG_DB_N;
    return (struct tg_db_value){.kind = TG_DB_TEXT, .ptr = text, .len = strlen(text)};
}

struct tg_db *tg_db_new(const struct tg_db_target *target, struct tg_db_pool *pool)
{
    struct tg_db *db = tg_calloc(1, sizeof *db);

    db->target = target;
    db->pool = pool;
    return db;
}

struct tg_db_pool *tg_db_owner(const struct tg_db *db)
{
    return db->pool;
}

static void disconnect(struct tg_db *db)
{
    tg_link_close(db->link);
    db->link = NULL;
}

void tg_db_free(struct tg_db *db)
{
    if (db == NULL)
        return;
    disconnect(db);
    free(db);
}

static enum tg_class give(const struct tg_db *db, enum tg_class class, struct tg_error *err)
{
    if (class != TG_OK && err != NULL)
        *err = db->error;
    return class;
}

static enum tg_class connect_if_needed(struct tg_db *db)
{
    if (db->link != NULL && !tg_link_is_closed(db->link))
        return TG_OK;
    disconnect(db);
    return tg_link_open(db->target, &db->link, &db->error);
}

static enum tg_class text_once(struct tg_db *db, const char *sql)
{
    return tg_link_text(db->link, sql, &db->error);
}

static bool rolled_back(struct tg_db *db)
{
    struct tg_error unused;

    return tg_link_text(db->link, "ROLLBACK", &unused) == TG_OK;
}

/* After a failure: lost connections are closed, a transaction that the server has ended (or that
 * must not go on) takes no more statements until it is rolled back. */
static void after_failure(struct tg_db *db, enum tg_class class)
{
    bool retry = class == TG_CLASS_CONFLICT && strcmp(db->error.code, "db_retry") == 0;

    if (class == TG_CLASS_DOWN)
        disconnect(db);
    if (!db->in_transaction || !(retry || class == TG_CLASS_DOWN))
        return;
    /* a lock wait ends the statement only; half a transaction is of no use to anybody */
    if (retry && !rolled_back(db))
        disconnect(db);
    db->broken = class;
}

/* Runs; outside a transaction once more on a new connection when the old one was lost. What
 * changes data is repeated only if it cannot have run. */
static enum tg_class call_run(struct tg_db *db, struct tg_link_call *call)
{
    enum tg_class class;

    if (db->in_transaction && db->broken != TG_OK)
        return db->broken;
    for (int round = 0;; round++) {
        if (!db->in_transaction) {
            class = connect_if_needed(db);
            if (class != TG_OK)
                return class;
        }
        class = tg_link_call(db->link, call, &db->error);
        if (class == TG_OK) {
            db->done = call->done;
            return TG_OK;
        }
        after_failure(db, class);
        if (class != TG_CLASS_DOWN || db->in_transaction || round > 0 ||
            (call->sent && call->ret == NULL))
            return class;
    }
}

enum tg_class tg_db_run(struct tg_db *db, const char *sql, const struct tg_db_value *values,
                        size_t count, struct tg_error *err)
{
    struct tg_link_call call = {.sql = sql, .values = values, .count = count};

    return give(db, call_run(db, &call), err);
}

struct tg_db_done tg_db_done(const struct tg_db *db)
{
    return db->done;
}

enum tg_class tg_db_select(struct tg_db *db, const char *sql, const struct tg_db_value *values,
                           size_t count, struct tg_db_rows **ret)
{
    struct tg_link_call call = {.sql = sql, .values = values, .count = count, .ret = ret};

    return call_run(db, &call);
}

const struct tg_error *tg_db_error(const struct tg_db *db)
{
    return &db->error;
}

enum tg_class tg_db_script(struct tg_db *db, const char *sql, struct tg_error *err)
{
    enum tg_class class = db->in_transaction ? db->broken : connect_if_needed(db);

    if (class == TG_OK) {
        class = text_once(db, sql);
        if (class != TG_OK)
            after_failure(db, class);
    }
    return give(db, class, err);
}

static enum tg_class begin(struct tg_db *db, const char *level, const char *start)
{
    enum tg_class class;

    tg_assert(!db->in_transaction);
    for (int round = 0;; round++) {
        class = connect_if_needed(db);
        if (class != TG_OK)
            return class;
        class = level == NULL ? TG_OK : text_once(db, level);
        if (class == TG_OK)
            class = text_once(db, start);
        if (class == TG_OK)
            break;
        after_failure(db, class);
        if (class != TG_CLASS_DOWN || round > 0)
            return class;
    }
    db->in_transaction = true;
    db->broken = TG_OK;
    return TG_OK;
}

enum tg_class tg_db_begin(struct tg_db *db, struct tg_error *err)
{
    return give(db, begin(db, NULL, "START TRANSACTION"), err);
}

enum tg_class tg_db_begin_snapshot(struct tg_db *db, struct tg_error *err)
{
    return give(db,
                begin(db, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                      "START TRANSACTION WITH CONSISTENT SNAPSHOT"),
                err);
}

enum tg_class tg_db_commit(struct tg_db *db, struct tg_error *err)
{
    enum tg_class class = db->broken;

    tg_assert(db->in_transaction);
    if (class == TG_OK) {
        class = text_once(db, "COMMIT");
        if (class != TG_OK)
            after_failure(db, class);
    }
    if (class != TG_OK)
        tg_db_rollback(db);
    db->in_transaction = false;
    return give(db, class, err);
}

void tg_db_rollback(struct tg_db *db)
{
    if (!db->in_transaction)
        return;
    /* an answer that does not come may come later, to another question */
    if (db->link != NULL && db->broken == TG_OK && !rolled_back(db))
        disconnect(db);
    db->in_transaction = false;
    db->broken = TG_OK;
}
