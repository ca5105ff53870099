#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "fcgi-app/record/record.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

enum { ALONE_US = 20000000, ALONE_PAUSE_US = 200000 };

/* The sum of what was used at the prices that were fixed when the deposit was taken. A formula that
 * fails for this usage, though it did for no sample, costs the deposit. */
static void make_bill(struct tg_request *req)
{
    req->bill_quota = 0;
    if (req->quote == NULL || req->usage.source == TG_USAGE_NONE)
        return; /* R3: nothing is owed */
    tg_buf_reset(&req->bill_steps);
    if (tg_bill(&req->quote->price, &req->usage, req->quote->group_ratio, &req->bill_steps,
                &req->bill_quota) != TG_OK) {
        req->bill_quota = req->deposit_quota;
        tg_buf_printf(&req->bill_steps, "{\"failed\":true,\"quota\":%lld}",
                      (long long)req->bill_quota);
        tg_log(TG_LOG_ERROR, "settle", "request %s could not be billed: its deposit is charged",
               req->id_text);
    }
}

static struct tg_entry make_entry(const struct tg_request *req, const struct tg_buf *record)
{
    bool billed = req->quote != NULL && req->usage.source != TG_USAGE_NONE;

    return (struct tg_entry){
        .id = req->id,
        .kind = billed ? TG_ENTRY_CHARGE : TG_ENTRY_REFUND,
        .user_id = req->credential->user_id,
        .token_id = req->credential->token_id,
        .channel_id = req->served != NULL ? req->served->channel_id : 0,
        .funding = req->funding,
        .amount_quota = req->bill_quota,
        .token_unlimited = -1,
        .record = {record->data, record->len},
    };
}

static bool settle(const struct tg_request *req, const struct tg_entry *entry,
                   struct tg_error *err)
{
    const struct tg_conf *conf = tg_worker_settings(req->worker)->conf;
    enum tg_ledger_answer answer = tg_ledger_settle(
        req->worker->ledger, entry,
        tg_now_us() + tg_conf_int(conf, TG_OPTION_LEDGER_SETTLE_TIMEOUT), err);

    return answer == TG_LEDGER_OK || answer == TG_LEDGER_ENDED;
}

/* Spool first: whoever dies or times out from here on is told again by the replay. With the disk
 * full there is nothing but this thread that knows the end: it tries both for a while. */
static void tell(struct tg_request *req, const struct tg_entry *entry)
{
    int64_t until_us = tg_now_us() + ALONE_US;
    struct tg_error err = {0};
    bool spooled, settled;

    TG_STOP("billed");
    spooled = tg_spool_append(req->worker->spool, entry, &err) == TG_OK;
    if (!spooled)
        tg_log_error(TG_LOG_ERROR, "spool", &err);
    TG_STOP("spooled");
    settled = settle(req, entry, &err);
    while (!settled && !spooled && tg_now_us() < until_us) {
        tg_clock_sleep_us(ALONE_PAUSE_US);
        spooled = tg_spool_append(req->worker->spool, entry, NULL) == TG_OK;
        settled = settle(req, entry, &err);
    }
    if (settled)
        return;
    tg_shared_count(req->worker->shared, TG_COUNTER_SETTLE_LATER, 1);
    tg_log(spooled ? TG_LOG_WARNING : TG_LOG_ERROR, "settle", "request %s %s: %s", req->id_text,
           spooled ? "is left to the replay" : "could neither be spooled nor settled", err.message);
}

void tg_stage_settle(struct tg_request *req)
{
    int64_t from_us = tg_now_us(), recorded_us;
    struct tg_buf record;
    struct tg_entry entry;

    if (req->ended)
        return;
    make_bill(req);
    tg_buf_init(&record, 0);
    tg_record_write(req, &record);
    recorded_us = tg_now_us();
    entry = make_entry(req, &record);
    tell(req, &entry);
    TG_STOP("settled");
    req->ended = true;
    tg_buf_done(&record);
    req->stage_us[TG_STAGE_RECORD] = recorded_us - from_us;
    req->stage_us[TG_STAGE_SETTLE] = tg_now_us() - recorded_us;
    tg_shared_stage_time(req->worker->shared, TG_STAGE_RECORD, req->stage_us[TG_STAGE_RECORD]);
    tg_shared_stage_time(req->worker->shared, TG_STAGE_SETTLE, req->stage_us[TG_STAGE_SETTLE]);
}
