#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/crypto/crypto.h"
#include "common/store/idempotency.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <stdio.h>
#include <string.h>

enum { KEY_MOST = 255, STORE_US = 2000000, TRIES = 3, AGAIN_MS = 2000 };

static enum tg_verdict refuse(struct tg_request *req, enum tg_class class, const char *code,
                              const char *text)
{
    tg_fail(&req->error, class, code, "%s", text);
    return TG_ANSWER;
}

/* The same key on another path, or with another body, is another request. */
static struct tg_idempotent *make(struct tg_request *req, const char *key)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    struct tg_idempotent *wish = tg_arena_calloc(req->arena, 1, sizeof *wish);
    char body[65], both[512];

    wish->token_id = req->credential->token_id;
    wish->request_id = req->id;
    wish->lease_us = tg_conf_int(conf, TG_OPTION_HOLD_LEASE);
    tg_sha256_hex(key, strlen(key), wish->key_hash);
    tg_sha256_hex(req->body.ptr, req->body.len, body);
    snprintf(both, sizeof both, "%s %s", body, req->path);
    tg_sha256_hex(both, strlen(both), wish->body_hash);
    return wish;
}

static enum tg_class ask(struct tg_request *req, const struct tg_idempotent *wish,
                         struct tg_idempotent_found *ret, struct tg_error *err)
{
    struct tg_db *db;
    enum tg_class class =
        tg_db_acquire(req->worker->main_db, tg_now_us() + STORE_US, &db, err);

    if (class != TG_OK)
        return class;
    for (int i = 0; i == 0 || (i < TRIES && class == TG_CLASS_CONFLICT); i++)
        class = tg_idempotent_begin(db, wish, req->arena, ret, err);
    tg_db_release(db);
    return class;
}

static enum tg_verdict answer_from(struct tg_request *req, const struct tg_idempotent_found *found)
{
    switch (found->state) {
    case TG_IDEMPOTENT_FRESH:
        return TG_NEXT;
    case TG_IDEMPOTENT_RUNNING:
        (void)refuse(req, TG_CLASS_CONFLICT, "idempotency_running",
                     "A request with this Idempotency-Key is still running.");
        req->error.retry_after_ms = AGAIN_MS;
        return TG_ANSWER;
    case TG_IDEMPOTENT_OTHER_BODY:
        return refuse(req, TG_CLASS_UNPROCESSABLE, "idempotency_mismatch",
                      "This Idempotency-Key was used with another request.");
    case TG_IDEMPOTENT_DONE:
        break;
    }
    if (found->status == 0)
        return refuse(req, TG_CLASS_CONFLICT, "idempotency_done",
                      "A request with this Idempotency-Key has been answered already; its answer "
                      "was not kept.");
    req->replayed = true;
    tg_reply_set_json(req, found->status, found->answer.ptr, found->answer.len);
    return TG_ANSWER;
}

enum tg_verdict tg_idempotent_check(struct tg_request *req)
{
    const char *key = req->idempotency_key;
    struct tg_idempotent_found found;
    struct tg_idempotent *wish;
    struct tg_error why = {0};
    enum tg_verdict verdict;

    if (key == NULL || key[0] == '\0' || req->idempotent != NULL)
        return TG_NEXT;
    if (req->doubtful)
        return TG_AGAIN; /* an answer is for whoever may still ask */
    if (strlen(key) > KEY_MOST)
        return refuse(req, TG_CLASS_INVALID, "invalid_idempotency_key",
                      "An Idempotency-Key has at most 255 characters.");
    wish = make(req, key);
    if (ask(req, wish, &found, &why) != TG_OK) {
        tg_log_error(TG_LOG_WARNING, "idempotency", &why);
        return refuse(req, TG_CLASS_OVERLOAD, "overloaded",
                      "The gateway cannot look up the Idempotency-Key now. Try again later.");
    }
    verdict = answer_from(req, &found);
    if (verdict == TG_NEXT)
        req->idempotent = wish;
    return verdict;
}

/* With a connection; what fails is only logged: the lease of the row runs out by itself. */
static void with_row(struct tg_request *req,
                     enum tg_class (*act)(struct tg_db *db, struct tg_request *req,
                                          struct tg_error *err))
{
    struct tg_error why = {0};
    struct tg_db *db;
    enum tg_class class =
        tg_db_acquire(req->worker->main_db, tg_now_us() + STORE_US, &db, &why);

    if (class == TG_OK) {
        class = act(db, req, &why);
        tg_db_release(db);
    }
    if (class != TG_OK)
        tg_log_error(TG_LOG_WARNING, "idempotency", &why);
}

static enum tg_class renew(struct tg_db *db, struct tg_request *req, struct tg_error *err)
{
    return tg_idempotent_renew(db, req->idempotent, err);
}

static enum tg_class end(struct tg_db *db, struct tg_request *req, struct tg_error *err)
{
    const struct tg_span answer = {req->tail.data, req->tail.len};
    bool kept = !req->headers_sent && !req->stream && answer.len > 0 &&
                answer.len <= TG_IDEMPOTENT_ANSWER_MOST;

    if (req->bill_quota == 0 && !req->content_sent &&
        (req->answer_status == 0 || req->answer_status >= 400))
        return tg_idempotent_forget(db, req->idempotent, err);
    return tg_idempotent_done(db, req->idempotent, req->answer_status, kept ? &answer : NULL, err);
}

void tg_idempotent_tick(struct tg_request *req)
{
    if (req->idempotent != NULL)
        with_row(req, renew);
}

void tg_idempotent_end(struct tg_request *req)
{
    if (req->idempotent != NULL)
        with_row(req, end);
}
