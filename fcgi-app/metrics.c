#include "common/base/clock.h"
#include "common/ledger/shard.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOK_WAIT_US = 1000000 };

/* Prometheus text format 0.0.4. */
static void put(struct tg_buf *out, const char *name, const char *type, const char *help,
                int64_t value)
{
    tg_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name, type, name,
                  (long long)value);
}

static const struct {
    enum tg_counter counter;
    const char *name, *help;
} counters[] = {
    {TG_COUNTER_REQUESTS, "tollgate_requests_total", "Requests answered."},
    {TG_COUNTER_ERRORS, "tollgate_errors_total", "Requests answered with an error."},
    {TG_COUNTER_SHED, "tollgate_shed_total", "Requests refused above pool.max_inflight."},
    {TG_COUNTER_ATTEMPTS, "tollgate_attempts_total", "Upstream calls."},
    {TG_COUNTER_INPUT_TOKENS, "tollgate_input_tokens_total", "Tokens read by upstreams."},
    {TG_COUNTER_OUTPUT_TOKENS, "tollgate_output_tokens_total", "Tokens written by upstreams."},
    {TG_COUNTER_QUOTA, "tollgate_quota_total", "Quota charged (500000 per USD)."},
    {TG_COUNTER_SETTLE_LATER, "tollgate_settle_later_total", "Settlements left to the replay."},
    {TG_COUNTER_CLIENT_GONE, "tollgate_client_gone_total", "Clients that left early."},
    {TG_COUNTER_WORKER_RESTARTS, "tollgate_worker_restarts_total", "Workers that were replaced."},
};

static const struct {
    enum tg_gauge gauge;
    const char *name, *help;
} gauges[] = {
    {TG_GAUGE_INFLIGHT, "tollgate_inflight", "Requests in flight on this node."},
    {TG_GAUGE_THREADS, "tollgate_threads", "Threads of all workers."},
    {TG_GAUGE_STREAMS, "tollgate_streams", "Streams running."},
    {TG_GAUGE_FINISHING, "tollgate_finishing", "Threads that wait for a web server to close."},
};

static void put_shared(struct tg_buf *out, const struct tg_shared *shared)
{
    for (size_t i = 0; i < TG_COUNT_OF(counters); i++)
        put(out, counters[i].name, "counter", counters[i].help,
            tg_shared_counter(shared, counters[i].counter));
    for (size_t i = 0; i < TG_COUNT_OF(gauges); i++)
        put(out, gauges[i].name, "gauge", gauges[i].help,
            tg_shared_gauge_sum(shared, gauges[i].gauge));
    tg_buf_str(out, "# HELP tollgate_stage_us Microseconds spent in a stage.\n"
                    "# TYPE tollgate_stage_us summary\n");
    for (int stage = 0; stage < TG_STAGE__COUNT; stage++) {
        int64_t us, count;

        tg_shared_stage_sum(shared, (enum tg_stage)stage, &us, &count);
        if (count == 0)
            continue;
        tg_buf_printf(out, "tollgate_stage_us_sum{stage=\"%s\"} %lld\n",
                      tg_stage_name((enum tg_stage)stage), (long long)us);
        tg_buf_printf(out, "tollgate_stage_us_count{stage=\"%s\"} %lld\n",
                      tg_stage_name((enum tg_stage)stage), (long long)count);
    }
}

/* ---- breakers ---- */

/* A label's value may hold anything but these. */
static void put_label(struct tg_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            tg_buf_str(out, "\\");
        tg_buf_add(out, *text == '\n' ? " " : text, 1);
    }
}

static void put_breaker(void *context, const struct tg_breaker_view *view)
{
    struct tg_buf *out = context;

    tg_buf_printf(out, "tollgate_breaker_state{channel=\"%lld\",model=\"",
                  (long long)view->channel_id);
    put_label(out, view->model);
    tg_buf_printf(out, "\"} %d\n", view->probing ? 1 : 2);
}

static void put_breakers(struct tg_buf *out, struct tg_shared *shared)
{
    const struct tg_breakers *breakers = tg_shared_breakers(shared);

    put(out, "tollgate_breaker_opened_total", "counter",
        "How often a channel was let rest for a model.", tg_breakers_opened(breakers));
    tg_buf_str(out, "# HELP tollgate_breaker_state Channels that are not called for a model:"
                    " 2 open, 1 a probe runs.\n# TYPE tollgate_breaker_state gauge\n");
    tg_breakers_each(breakers, put_breaker, out);
}

/* ---- the ledger, by calls that only read ---- */

struct books {
    int64_t holds, waiting_shards, lag_ms;
};

static bool count_holds(const struct tg_shard_call *call, int64_t *ret)
{
    char tag[8], key[32];
    const struct tg_kv_reply *reply;

    snprintf(tag, sizeof tag, "{s%02d}", call->shard);
    snprintf(key, sizeof key, "tg:%s:holds", tag);
    {
        const struct tg_span args[] = {{"HLEN", 4}, {key, strlen(key)}};
        const struct tg_kv_call command = {tag, args, TG_COUNT_OF(args), call->deadline_at_us};

        return tg_kv_command(call->kv, &command, &reply, NULL) == TG_OK && tg_kv_int(reply, ret);
    }
}

/* The age of the oldest entry that the applier has not reached; 0 when it has reached all. */
static bool lag_behind(const struct tg_shard_call *call, struct tg_arena *arena,
                       const char *cursor, int64_t *ret_ms)
{
    struct tg_journal_page page = {.after = cursor, .most = 1};

    if (tg_shard_journal(call, arena, &page) != TG_OK)
        return false;
    *ret_ms = 0;
    if (page.count > 0) /* a stream's id begins with the server's time in ms */
        *ret_ms = TG_MAX(tg_kv_server_ms(call->kv) - strtoll(page.entries[0].stream_id, NULL, 10),
                         INT64_C(1));
    return true;
}

static bool look_at_shard(const struct tg_shard_call *call, struct tg_arena *arena,
                          const char *cursor, struct books *books)
{
    int64_t holds, lag_ms;

    if (!count_holds(call, &holds) || !lag_behind(call, arena, cursor, &lag_ms))
        return false;
    books->holds += holds;
    books->waiting_shards += lag_ms > 0;
    books->lag_ms = TG_MAX(books->lag_ms, lag_ms);
    return true;
}

static bool read_cursors(struct tg_worker *worker, struct tg_cursor cursors[TG_SHARDS])
{
    struct tg_db *db;
    bool read;

    if (tg_db_acquire(worker->main_db, tg_now_us() + LOOK_WAIT_US, &db, NULL) != TG_OK)
        return false;
    read = tg_store_cursors(db, cursors, NULL) == TG_OK;
    tg_db_release(db);
    return read;
}

static bool look_at_books(struct tg_request *req, struct books *ret)
{
    struct tg_cursor cursors[TG_SHARDS];
    int64_t until_us = tg_now_us() + LOOK_WAIT_US;
    struct tg_error err;
    struct tg_kv *kv;
    bool all = true;

    *ret = (struct books){0};
    if (!read_cursors(req->worker, cursors) ||
        tg_kv_acquire(req->worker->kv, until_us, &kv, NULL) != TG_OK)
        return false;
    for (int shard = 0; shard < TG_SHARDS && all; shard++) {
        const struct tg_shard_call call = {.kv = kv,
                                           .shard = shard,
                                           .epoch = cursors[shard].epoch,
                                           .deadline_at_us = until_us,
                                           .err = &err};

        all = look_at_shard(&call, req->arena, cursors[shard].stream_id, ret);
    }
    tg_kv_release(kv);
    return all;
}

static void put_books(struct tg_buf *out, struct tg_request *req)
{
    struct books books;
    bool known = look_at_books(req, &books);

    put(out, "tollgate_books_readable", "gauge", "Redis and the main database could be read.",
        known);
    if (!known)
        return;
    put(out, "tollgate_open_holds", "gauge", "Deposits that have no end yet, of all nodes.",
        books.holds);
    put(out, "tollgate_journal_lag_ms", "gauge",
        "Age of the oldest journal entry that is not applied, worst shard.", books.lag_ms);
    put(out, "tollgate_journal_waiting_shards", "gauge",
        "Shards with entries that are not applied.", books.waiting_shards);
}

static void put_spool(struct tg_buf *out, struct tg_request *req)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    struct tg_spool_file *files;
    size_t count;
    int64_t bytes = 0, oldest_s = 0;

    if (tg_spool_list(tg_conf_text(conf, TG_OPTION_LEDGER_SPOOL_DIR), req->worker->node, req->arena,
                      &files, &count) != TG_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct stat file;

        if (stat(files[i].path, &file) != 0 || file.st_size == 0)
            continue;
        bytes += file.st_size;
        oldest_s = TG_MAX(oldest_s, tg_unix_us() / 1000000 - file.st_mtime);
    }
    put(out, "tollgate_spool_files", "gauge", "Spool files of this node.", (int64_t)count);
    put(out, "tollgate_spool_bytes", "gauge", "Bytes in them.", bytes);
    put(out, "tollgate_spool_lag_s", "gauge", "Age of the last write to the oldest of them.",
        oldest_s);
    put(out, "tollgate_spool_healthy", "gauge", "The last write to this worker's spool succeeded.",
        tg_spool_is_healthy(req->worker->spool));
}

void tg_answer_metrics(struct tg_request *req)
{
    const struct tg_settings *settings = tg_worker_settings(req->worker);

    if (!tg_cidrs_match(settings->metrics_allow, settings->metrics_allow_count, &req->address)) {
        tg_fail(&req->error, TG_CLASS_FORBIDDEN, "access_denied",
                "Metrics may not be read from this address.");
        return;
    }
    put_shared(&req->tail, req->worker->shared);
    put_breakers(&req->tail, req->worker->shared);
    put_books(&req->tail, req);
    put_spool(&req->tail, req);
    put(&req->tail, "tollgate_snapshot_age_ms", "gauge", "Age of this worker's routing data.",
        tg_snapshot_age_us(req->worker->snapshots) / 1000);
    put(&req->tail, "tollgate_ledger_up", "gauge", "Money scripts succeed in this worker.",
        tg_ledger_is_up(req->worker->ledger));
    (void)tg_reply_begin(req, 200, "text/plain; version=0.0.4; charset=utf-8", NULL, 0);
}
