#include "fcgi-app/access/access.h"

#include "common/base/clock.h"
#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/credential/cache.h"
#include "common/credential/form.h"
#include "common/credential/known.h"
#include "common/crypto/crypto.h"
#include "fcgi-app/access/carrier.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

#include <stdatomic.h>
#include <string.h>

enum {
    STORES_WAIT_US = 3000000, /* for Redis and then MySQL together */
    TELL_EVERY_US = 60000000
};

bool tg_access_model_allowed(const struct tg_credential *credential, const char *model)
{
    if (!credential->models_limited)
        return true;
    for (size_t i = 0; i < credential->model_count; i++)
        if (strcmp(credential->models[i], model) == 0)
            return true;
    return false;
}

enum tg_class tg_access_check(const struct tg_credential *credential, const struct tg_visit *visit,
                              struct tg_error *err)
{
    if (credential->token_status != TG_STATUS_ENABLED)
        return tg_fail(err, TG_CLASS_AUTH, "token_revoked", "This API token has been revoked.");
    if (credential->expires_unix_us != 0 && credential->expires_unix_us <= visit->unix_us)
        return tg_fail(err, TG_CLASS_AUTH, "token_expired", "This API token has expired.");
    if (credential->address_count > 0 &&
        !tg_cidrs_match(credential->addresses, credential->address_count, visit->address))
        return tg_fail(err, TG_CLASS_FORBIDDEN, "access_denied",
                       "This API token may not be used from your address.");
    if (credential->user_status != TG_STATUS_ENABLED)
        return tg_fail(err, TG_CLASS_FORBIDDEN, "access_denied", "This account is disabled.");
    if (visit->pinned_channel_id != 0 && !credential->user_is_admin)
        return tg_fail(err, TG_CLASS_FORBIDDEN, "access_denied",
                       "Only administrators may choose a channel.");
    return TG_OK;
}

static void add_group(struct tg_request *req, const struct tg_snapshot *snapshot,
                      const char **groups, const char *name)
{
    if (tg_snapshot_ratio(snapshot, req->credential->user_group, name) != NULL)
        groups[req->group_count++] = name;
}

/* "auto" is the token's own list, or that of the settings, as far as the user may use it. */
static void list_groups(struct tg_request *req, const struct tg_snapshot *snapshot)
{
    const struct tg_settings *settings = tg_worker_settings(req->worker);
    const struct tg_credential *credential = req->credential;
    bool is_auto = strcmp(req->group, TG_GROUP_AUTO) == 0;
    bool own = credential->auto_group_count > 0;
    const char *const *list = own ? credential->auto_groups : settings->auto_groups;
    size_t count = own ? credential->auto_group_count : settings->auto_group_count;
    const char **groups = tg_arena_calloc(req->arena, count + 1, sizeof *groups);

    req->groups = groups;
    req->group_count = 0;
    if (!is_auto)
        add_group(req, snapshot, groups, req->group);
    for (size_t i = 0; is_auto && i < count; i++)
        add_group(req, snapshot, groups, list[i]);
}

/* The group whose channels and ratio apply: the token's own, else the user's. */
static enum tg_verdict take_group(struct tg_request *req)
{
    const struct tg_credential *credential = req->credential;
    const struct tg_snapshot *snapshot;

    req->group =
        credential->group_name[0] != '\0' ? credential->group_name : credential->user_group;
    snapshot = tg_snapshot_acquire(req->worker->snapshots);
    if (snapshot == NULL) {
        tg_fail(&req->error, TG_CLASS_DOWN, "no_snapshot", "routing data was never read");
        return TG_ANSWER;
    }
    list_groups(req, snapshot);
    tg_snapshot_release(req->worker->snapshots, snapshot);
    if (req->group_count > 0)
        return TG_NEXT;
    tg_fail(&req->error, TG_CLASS_FORBIDDEN, "access_denied",
            "This API token's group is not available to its account.");
    return TG_ANSWER;
}

/* Some web servers keep Authorization to themselves, and the client only sees that its token is
 * refused: the operator is told, once a minute at most. */
static void tell_that_nothing_came(void)
{
    static _Atomic int64_t told_at_us;
    int64_t now_us = tg_now_us(), before = atomic_load(&told_at_us);

    if ((before == 0 || now_us - before >= TELL_EVERY_US) &&
        atomic_compare_exchange_strong(&told_at_us, &before, now_us))
        tg_log(TG_LOG_INFO, "access",
               "a request came without any credential header; if clients send one, the web server "
               "keeps it back (Apache: CGIPassAuth On)");
}

/* Apache's name for a header that a rewrite rule saved. */
static const char *authorization_of(const struct tg_fcgi *fcgi)
{
    const char *given = tg_fcgi_header(fcgi, "authorization");

    return given != NULL ? given : tg_fcgi_param(fcgi, "REDIRECT_HTTP_AUTHORIZATION");
}

static bool find_token(struct tg_request *req, struct tg_carried *ret)
{
    const struct tg_carriers carriers = {
        .x_api_key = tg_fcgi_header(req->fcgi, "x-api-key"),
        .x_goog_api_key = tg_fcgi_header(req->fcgi, "x-goog-api-key"),
        .query = req->query,
        .authorization = authorization_of(req->fcgi),
        .mj_api_secret = tg_fcgi_header(req->fcgi, "mj-api-secret"),
    };

    if (tg_carrier_token(req->arena, &carriers, ret))
        return true;
    if (carriers.x_api_key == NULL && carriers.x_goog_api_key == NULL &&
        carriers.authorization == NULL && carriers.mj_api_secret == NULL)
        tell_that_nothing_came();
    return false;
}

static enum tg_verdict refuse_unknown(struct tg_request *req)
{
    tg_fail(&req->error, TG_CLASS_AUTH, "invalid_api_key", "No valid API token was given.");
    return TG_ANSWER;
}

static enum tg_verdict judge(struct tg_request *req, const struct tg_credential *credential)
{
    const struct tg_visit visit = {.address = &req->address,
                                   .unix_us = req->created_unix_us,
                                   .pinned_channel_id = req->pinned_channel_id};

    req->credential = NULL;
    if (tg_access_check(credential, &visit, &req->error) != TG_OK) {
        if (req->error.class != TG_CLASS_AUTH)
            req->credential = credential; /* the refusal is recorded */
        return TG_ANSWER;
    }
    req->credential = credential;
    return take_group(req);
}

/* Only a request that goes on to the deposit may be let in on a known credential, and only while
 * the live books answer: they compare its authver. */
static bool may_use_known(const struct tg_request *req)
{
    return req->endpoint->operation == TG_OPERATION_GENERATE &&
           tg_ledger_is_up(req->worker->ledger);
}

/* False: not known, or it would be refused. */
static bool admit_known(struct tg_request *req)
{
    tg_assert(req->borrowed == NULL);
    if (!may_use_known(req))
        return false;
    req->borrowed = tg_known_take(req->worker->known, req->token_hmac, req->started_at_us);
    if (req->borrowed == NULL)
        return false;
    req->doubtful = judge(req, req->borrowed) == TG_NEXT;
    if (!req->doubtful)
        req->error = (struct tg_error){0};
    return req->doubtful;
}

/* Reads the credential behind the digest and checks it. */
static enum tg_verdict admit(struct tg_request *req)
{
    int64_t now_us = tg_now_us();
    const struct tg_credential_source source = {
        .kv = req->worker->kv,
        .main_db = req->worker->main_db,
        .deadline_at_us = now_us + STORES_WAIT_US,
    };
    struct tg_credential *credential;
    enum tg_verdict verdict;

    req->credential = NULL;
    if (tg_credential_get(&source, req->arena, req->token_hmac, &credential, &req->error) != TG_OK)
        return TG_ANSWER; /* a store that is away is never reported as a bad token */
    if (credential == NULL)
        return refuse_unknown(req);
    verdict = judge(req, credential);
    if (verdict == TG_NEXT)
        tg_known_keep(req->worker->known, req->token_hmac, credential, now_us);
    return verdict;
}

enum tg_verdict tg_stage_access(struct tg_request *req)
{
    struct tg_carried carried;
    uint8_t digest[TG_HMAC_BYTES];

    if (!find_token(req, &carried))
        return refuse_unknown(req);
    tg_hmac_with(&req->worker->token_pepper, carried.token.ptr, carried.token.len, digest);
    tg_hex(digest, sizeof digest, req->token_hmac);
    req->pinned_channel_id = carried.pinned_channel_id;
    return admit_known(req) ? TG_NEXT : admit(req);
}

static bool say_the_same(const struct tg_credential *a, const struct tg_credential *b)
{
    struct tg_buf one, other;
    bool same;

    tg_buf_init(&one, 0);
    tg_buf_init(&other, 0);
    tg_credential_write(a, &one);
    tg_credential_write(b, &other);
    same = one.len == other.len && memcmp(one.data, other.data, one.len) == 0;
    tg_buf_done(&one);
    tg_buf_done(&other);
    return same;
}

enum tg_verdict tg_access_again(struct tg_request *req, bool stale, bool *ret_same)
{
    const struct tg_credential *before = req->credential;
    enum tg_verdict verdict;

    req->doubtful = false;
    req->looked_again = true;
    req->error = (struct tg_error){0};
    tg_known_drop(req->worker->known, req->token_hmac);
    /* The entry in Redis goes as at the end of a change; MySQL says what holds now. While Redis is
     * away MySQL is read in any case, and what is stale still is refused at the deposit. */
    if (stale)
        (void)!tg_credential_change_end(req->worker->kv, req->token_hmac, NULL);
    verdict = admit(req);
    *ret_same = verdict == TG_NEXT && say_the_same(before, req->credential);
    return verdict;
}

void tg_access_done(struct tg_request *req)
{
    tg_known_release(req->borrowed);
    req->borrowed = NULL;
}
