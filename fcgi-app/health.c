#include "common/base/clock.h"
#include "common/json/writer.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/worker.h"

#include <pthread.h>

enum { PROBE_WAIT_US = 1000000, PROBE_EVERY_US = 1000000 };

/* What the stores last said to this process. Anyone may ask for /readyz: a flood of questions must
 * not become a flood of probes. */
static struct {
    pthread_mutex_t lock;
    int64_t probed_at_us;
    bool redis, main_db;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tg_answer_health(struct tg_request *req)
{
    tg_buf_str(&req->tail, "ok\n");
    (void)tg_reply_begin(req, 200, "text/plain; charset=utf-8", NULL, 0);
}

static bool redis_answers(struct tg_worker *worker)
{
    const struct tg_span args[] = {{"PING", 4}};
    const struct tg_kv_call call = {
        .args = args, .count = 1, .deadline_at_us = tg_now_us() + PROBE_WAIT_US};
    const struct tg_kv_reply *reply;
    struct tg_kv *kv;
    bool up;

    if (tg_kv_acquire(worker->kv, call.deadline_at_us, &kv, NULL) != TG_OK)
        return false;
    up = tg_kv_command(kv, &call, &reply, NULL) == TG_OK;
    tg_kv_release(kv);
    return up;
}

static bool main_db_answers(struct tg_worker *worker)
{
    struct tg_db *db;
    int64_t version;
    bool up;

    if (tg_db_acquire(worker->main_db, tg_now_us() + PROBE_WAIT_US, &db, NULL) != TG_OK)
        return false;
    up = tg_store_routing_version(db, &version, NULL) == TG_OK;
    tg_db_release(db);
    return up;
}

static void probe(struct tg_worker *worker, bool *ret_redis, bool *ret_main_db)
{
    pthread_mutex_lock(&seen.lock);
    if (seen.probed_at_us == 0 || tg_now_us() - seen.probed_at_us >= PROBE_EVERY_US) {
        seen.redis = redis_answers(worker);
        seen.main_db = main_db_answers(worker);
        seen.probed_at_us = tg_now_us();
        tg_ledger_probed(worker->ledger, seen.redis);
    }
    *ret_redis = seen.redis;
    *ret_main_db = seen.main_db;
    pthread_mutex_unlock(&seen.lock);
}

void tg_answer_ready(struct tg_request *req)
{
    static const char *const money_names[] = {[TG_LEDGER_ONLINE] = "online",
                                              [TG_LEDGER_OFFLINE] = "offline",
                                              [TG_LEDGER_SINGLE] = "single"};
    struct tg_worker *worker = req->worker;
    bool redis, main_db, draining = atomic_load(&worker->draining);
    int64_t age_us = tg_snapshot_age_us(worker->snapshots);
    char fingerprint[TG_FINGERPRINT_TEXT];
    enum tg_ledger_money money;
    bool ready;
    struct tg_json_writer json;
    struct tg_buf body;

    probe(worker, &redis, &main_db);
    money = tg_ledger_money(worker->ledger);
    /* Accounts that are live already need Redis alone; without it money is in MySQL. */
    ready = !draining && age_us >= 0 && tg_spool_is_healthy(worker->spool) &&
            (money == TG_LEDGER_ONLINE ? redis : main_db);
    tg_buf_init(&body, 0);
    tg_json_writer_init(&json, &body);
    tg_json_begin_object(&json);
    tg_json_put_bool(&json, "ready", ready);
    tg_json_put_bool(&json, "draining", draining);
    tg_json_put_str(&json, "node", worker->node);
    tg_json_put_str(&json, "redis", redis ? "up" : "down");
    tg_json_put_str(&json, "ledger", tg_ledger_is_up(worker->ledger) ? "up" : "down");
    tg_json_put_str(&json, "money", money_names[money]);
    tg_json_put_str(&json, "main_database", main_db ? "up" : "down");
    tg_json_put_str(&json, "spool", tg_spool_is_healthy(worker->spool) ? "healthy" : "failing");
    tg_json_put_int(&json, "snapshot_age_ms", age_us < 0 ? -1 : age_us / 1000);
    tg_snapshot_fingerprint(worker->snapshots, fingerprint);
    tg_json_put_str(&json, "secrets_fingerprint", fingerprint);
    tg_json_end_object(&json);
    tg_reply_set_json(req, ready ? 200 : 503, body.data, body.len);
    tg_buf_done(&body);
}
