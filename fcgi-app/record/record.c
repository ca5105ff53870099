#include "fcgi-app/record/record.h"

#include "common/base/clock.h"
#include "common/json/writer.h"
#include "fcgi-app/convert/diagnostic.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/worker.h"

#include <string.h>

enum { STATUS_CLIENT_LEFT = 499 };

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* What is empty or zero is left out: the reader of a record takes a missing column for that, and a
 * record travels through spool, Redis, journal and batch. */
static void put_text(struct tg_json_writer *out, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        tg_json_put_str(out, key, text);
}

static void put_number(struct tg_json_writer *out, const char *key, int64_t value)
{
    if (value != 0)
        tg_json_put_int(out, key, value);
}

static void put_origin(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_credential *credential = req->credential;
    char created[TG_TIME_TEXT];

    tg_time_format_sql(req->created_unix_us, created);
    put_text(out, "request_id", req->id_text);
    put_text(out, "created_at", created);
    put_text(out, "client_request_id", req->client_request_id);
    put_text(out, "node", req->worker->node);
    put_text(out, "endpoint", req->endpoint->name);
    put_text(out, "protocol", tg_protocol_name(req->endpoint->protocol));
    put_number(out, "stream", req->stream);
    put_number(out, "user_id", credential->user_id);
    put_number(out, "token_id", credential->token_id);
    put_text(out, "token_name", credential->token_name);
    put_text(out, "team", credential->team);
    put_text(out, "address", req->address_text);
}

/* The attempt that served, else the last one that called a channel. */
static const struct tg_attempt *shown_attempt(const struct tg_request *req)
{
    const struct tg_attempt *last = NULL;

    if (req->served != NULL)
        return req->served;
    for (const struct tg_attempt *at = req->attempts; at != NULL; at = at->next)
        if (at->channel_id != 0)
            last = at;
    return last;
}

static void put_route(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_attempt *attempt = shown_attempt(req);
    const char *served = req->served != NULL ? or_empty(req->served->model) : "";

    put_text(out, "requested_model", req->model);
    put_text(out, "served_model", served);
    put_text(out, "upstream_model",
                    attempt != NULL ? or_empty(attempt->upstream_model) : "");
    put_text(out, "group_name",
                    req->quote != NULL ? or_empty(req->quote->group) : or_empty(req->group));
    put_number(out, "channel_id", attempt != NULL ? attempt->channel_id : 0);
    put_text(out, "key_hint", attempt != NULL ? or_empty(attempt->key_hint) : "");
    put_number(out, "was_fallback",
                    req->served != NULL && strcmp(served, or_empty(req->model)) != 0);
    put_number(out, "attempts", req->attempt_count);
}

static int status_of(const struct tg_request *req)
{
    if (req->answer_status == 0 ||
        (!req->headers_sent && req->end_reason == TG_END_CLIENT_GONE))
        return STATUS_CLIENT_LEFT;
    return req->answer_status;
}

static void put_outcome(struct tg_json_writer *out, const struct tg_request *req)
{
    put_number(out, "status", status_of(req));
    put_text(out, "error_code", req->error.class != TG_OK ? req->error.code : "");
    put_text(out, "end_reason", tg_end_reason_name(req->end_reason));
}

static const char *usage_source(const struct tg_usage *usage)
{
    static const char *const names[] = {
        [TG_USAGE_NONE] = "none",
        [TG_USAGE_UPSTREAM] = "upstream",
        [TG_USAGE_COUNTED_LOCALLY] = "counted_locally",
    };

    return names[usage->source];
}

static void put_usage(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_usage *usage = &req->usage;

    put_number(out, "input", usage->input);
    put_number(out, "cache_read", usage->cache_read);
    put_number(out, "cache_write_5m", usage->cache_write_5m);
    put_number(out, "cache_write_1h", usage->cache_write_1h);
    put_number(out, "output", usage->output);
    put_number(out, "reasoning", usage->reasoning);
    put_number(out, "image", usage->image_in);
    put_number(out, "audio_in", usage->audio_in);
    put_number(out, "audio_out", usage->audio_out);
    put_number(out, "tool_calls", usage->tool_calls);
    put_text(out, "usage_source", usage_source(usage));
}

static void put_money(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_quote *quote = req->quote != NULL || req->quote_count == 0 ? req->quote
                                                                                : req->quotes;

    put_number(out, "quota", req->bill_quota);
    put_text(out, "funding",
                    !req->held ? "" : req->funding.plan_id != 0 ? "plan" : "wallet");
    put_text(out, "price_hash", quote != NULL ? quote->price.hash : "");
}

static void put_times(struct tg_json_writer *out, const struct tg_request *req)
{
    put_number(out, "first_token_us", req->first_token_us);
    put_number(out, "total_us", tg_now_us() - req->started_at_us);
    tg_json_key(out, "stages_json");
    tg_json_begin_object(out);
    for (int stage = 0; stage < TG_STAGE__COUNT; stage++)
        if (req->stage_us[stage] != 0)
            put_number(out, tg_stage_name((enum tg_stage)stage), req->stage_us[stage]);
    tg_json_end_object(out);
    put_number(out, "request_bytes", req->request_bytes);
    put_number(out, "response_bytes", req->sent_bytes + (int64_t)req->tail.len);
}

static void put_attempt(struct tg_json_writer *out, const struct tg_attempt *attempt)
{
    tg_json_begin_object(out);
    tg_json_put_int(out, "number", attempt->number);
    tg_json_put_int(out, "tier", attempt->tier);
    tg_json_put_int(out, "channel_id", attempt->channel_id);
    put_text(out, "channel_name", or_empty(attempt->channel_name));
    put_text(out, "group", or_empty(attempt->group));
    put_text(out, "chosen", or_empty(attempt->chosen));
    put_number(out, "channels", (int64_t)attempt->channels_all);
    put_number(out, "resting", (int64_t)attempt->channels_resting);
    tg_json_put_int(out, "key_id", attempt->key_id);
    tg_json_put_str(out, "key_hint", or_empty(attempt->key_hint));
    tg_json_put_str(out, "model", or_empty(attempt->model));
    tg_json_put_str(out, "upstream_model", or_empty(attempt->upstream_model));
    tg_json_put_int(out, "status", attempt->status);
    tg_json_key(out, "error_code");
    tg_json_write_str(out, attempt->error_code);
    tg_json_put_str(out, "source", or_empty(attempt->source));
    tg_json_put_str(out, "action", or_empty(attempt->action));
    tg_json_put_str(out, "reason", or_empty(attempt->reason));
    put_text(out, "effect", or_empty(attempt->effect));
    tg_json_put_int(out, "elapsed_us", attempt->elapsed_us);
    tg_json_put_bool(out, "maybe_accepted", attempt->maybe_accepted);
    tg_json_end_object(out);
}

static void put_detail(struct tg_json_writer *out, const struct tg_request *req)
{
    tg_json_key(out, "detail");
    tg_json_begin_object(out);
    tg_json_key(out, "attempts_json");
    tg_json_begin_array(out);
    for (const struct tg_attempt *at = req->attempts; at != NULL; at = at->next)
        put_attempt(out, at);
    tg_json_end_array(out);
    if (req->diagnostics != NULL && req->diagnostics->kept_count > 0) {
        tg_json_key(out, "diagnostics_json");
        tg_diagnostics_write(req->diagnostics, out);
    }
    if (req->bill_steps.len > 0) {
        tg_json_key(out, "bill_json");
        tg_json_write_raw(out, req->bill_steps.data, req->bill_steps.len);
    }
    tg_json_end_object(out);
}

void tg_record_write(const struct tg_request *req, struct tg_buf *out)
{
    struct tg_json_writer json;

    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_json_key(&json, "log");
    tg_json_begin_object(&json);
    put_origin(&json, req);
    put_route(&json, req);
    put_outcome(&json, req);
    put_usage(&json, req);
    put_money(&json, req);
    put_times(&json, req);
    tg_json_end_object(&json);
    put_detail(&json, req);
    tg_json_end_object(&json);
}
