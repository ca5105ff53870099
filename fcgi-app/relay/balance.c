#include "fcgi-app/relay/balance.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/money.h"
#include "common/json/writer.h"
#include "common/store/channel.h"
#include "common/store/channel_watch.h"
#include "fcgi-app/provider/balance.h"
#include "fcgi-app/relay/ask.h"
#include "fcgi-app/relay/effects.h"
#include "fcgi-app/relay/relay.h"
#include "fcgi-app/reply.h"

#include <string.h>

enum { ASK_LIMIT_US = 20000000, ANSWER_MOST = 256 * 1024, STORE_WAIT_US = 2000000, STEPS = 2 };

struct account {
    struct tg_channel channel;
    size_t key_count;
    const struct tg_balance_source *source;
    struct tg_ask asks[STEPS];
};

static enum tg_class prepare(struct tg_request *req, const struct tg_channel_balance_wish *wish,
                             struct account *ret, struct tg_error *err)
{
    struct tg_snapshot_holder *holder = req->worker->snapshots;
    const struct tg_snapshot *snapshot = tg_snapshot_acquire_from(holder, wish->version);
    const struct tg_channel *channel =
        snapshot == NULL ? NULL : tg_snapshot_channel(snapshot, wish->channel_id);

    if (channel != NULL) {
        ret->channel = tg_relay_copy_channel(req->arena, channel);
        ret->key_count = channel->key_count;
        ret->source = tg_balance_find(channel->balance_from, channel->base_url);
    }
    tg_snapshot_release(holder, snapshot);
    if (channel == NULL)
        return tg_fail(err, TG_CLASS_NOT_FOUND, "channel_not_found",
                       "no such channel, or it is disabled");
    if (ret->source == NULL)
        return tg_fail(err, TG_CLASS_NOT_FOUND, "balance_not_told",
                       "the channel's provider is not known to tell what is left");
    if (ret->key_count != 1)
        return tg_fail(err, TG_CLASS_NOT_FOUND, "balance_of_many",
                       "a balance is asked for where a channel has one key");
    return TG_OK;
}

static void call(struct tg_request *req, struct account *account, int step, const char *url)
{
    const struct tg_http_header headers[] = {
        {"Authorization", tg_arena_printf(req->arena, "Bearer %s", account->channel.key)},
        {"Accept", "application/json"},
        {"User-Agent", "tollgate"},
    };
    const struct tg_provider_call get = {
        .url = url, .headers = headers, .header_count = TG_COUNT_OF(headers)};
    struct tg_ask *ask = &account->asks[step];

    ask->channel = &account->channel;
    ask->call = &get;
    ask->method = "GET";
    ask->limit_us = ASK_LIMIT_US;
    ask->most = ANSWER_MOST;
    tg_ask_run(req, ask);
    ask->call = NULL; /* it ends here */
}

static enum tg_class ask_all(struct tg_request *req, struct account *account, int64_t *ret_quota,
                             struct tg_error *err)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    struct tg_balance_facts facts = {
        .base_url = account->channel.base_url,
        .answers = {{"", 0}, {"", 0}},
        .cny_per_usd = tg_conf_text(conf, TG_OPTION_BALANCE_CNY_PER_USD)};
    const char *url;

    for (int step = 0; step < STEPS; step++) {
        url = tg_balance_url(account->source, req->arena, facts.base_url, step, facts.answers[0]);
        if (url == NULL)
            break;
        call(req, account, step, url);
        if (account->asks[step].error.class != TG_OK) {
            *err = account->asks[step].error;
            return err->class;
        }
        facts.answers[step] =
            (struct tg_span){tg_buf_text(&account->asks[step].body), account->asks[step].body.len};
    }
    return tg_balance_read(account->source, &facts, ret_quota, err);
}

static void note(struct tg_worker *worker, int64_t channel_id,
                 const struct tg_channel_balance *balance)
{
    const struct tg_channel_balance_row row = {
        .channel_id = channel_id,
        .quota = balance->quota,
        .code = balance->error.class == TG_OK ? "" : balance->error.code};
    struct tg_error err = {0};
    struct tg_db *db = NULL;
    enum tg_class class = tg_db_acquire(worker->main_db, tg_now_us() + STORE_WAIT_US, &db, &err);

    if (class == TG_OK)
        class = tg_store_channel_balance(db, &row, &err);
    tg_db_release(db);
    if (class != TG_OK)
        tg_log_error(TG_LOG_INFO, "balance", &err);
}

static void conclude(struct tg_worker *worker, int64_t channel_id,
                     const struct tg_channel_balance *balance)
{
    const struct tg_channel_verdict why = {.channel_id = channel_id,
                                           .reason = "the account is used up"};

    if (balance->error.class == TG_OK && balance->quota <= 0 &&
        tg_conf_bool(tg_worker_settings(worker)->conf, TG_OPTION_AUTO_DISABLE_ON))
        (void)tg_effects_apply(worker->main_db, worker->kv, TG_EFFECT_DISABLE, &why);
}

void tg_channel_balance(struct tg_request *req, const struct tg_channel_balance_wish *wish,
                        struct tg_channel_balance *ret)
{
    struct account account = {.asks = {{.stop = wish->stop}, {.stop = wish->stop}}};
    enum tg_class class;

    memset(ret, 0, sizeof *ret);
    for (int step = 0; step < STEPS; step++)
        tg_buf_init(&account.asks[step].body, 0);
    class = prepare(req, wish, &account, &ret->error);
    if (class == TG_OK) {
        (void)ask_all(req, &account, &ret->quota, &ret->error);
        if (wish->stop == NULL || !atomic_load(wish->stop)) {
            note(req->worker, wish->channel_id, ret);
            conclude(req->worker, wish->channel_id, ret);
        }
    }
    for (int step = 0; step < STEPS; step++)
        tg_ask_done(&account.asks[step]);
}

void tg_channel_balance_answer(struct tg_request *req, const struct tg_channel_balance_wish *wish)
{
    struct tg_channel_balance balance;
    struct tg_json_writer json;
    char usd[TG_USD_TEXT];
    struct tg_buf out;
    bool known;

    tg_channel_balance(req, wish, &balance);
    known = balance.error.class == TG_OK;
    tg_usd_format(balance.quota, usd);
    tg_buf_init(&out, 0);
    tg_json_writer_init(&json, &out);
    tg_json_begin_object(&json);
    tg_json_put_bool(&json, "ok", known);
    tg_json_put_str(&json, "balance_usd", known ? usd : NULL);
    tg_json_put_str(&json, "code", known ? NULL : balance.error.code);
    tg_json_put_str(&json, "error", known ? NULL : balance.error.message);
    tg_json_end_object(&json);
    tg_reply_set_json(req, 200, out.data, out.len);
    tg_buf_done(&out);
}
