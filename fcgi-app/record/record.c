#include "fcgi-app/record/record.h"

#include "common/base/clock.h"
#include "common/json/writer.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/worker.h"

#include <string.h>

enum { STATUS_CLIENT_LEFT = 499 };

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static void put_origin(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_credential *credential = req->credential;
    char created[TG_TIME_TEXT];

    tg_time_format_sql(req->created_unix_us, created);
    tg_json_put_str(out, "request_id", req->id_text);
    tg_json_put_str(out, "created_at", created);
    tg_json_put_str(out, "client_request_id", or_empty(req->client_request_id));
    tg_json_put_str(out, "node", req->worker->node);
    tg_json_put_str(out, "endpoint", req->endpoint->name);
    tg_json_put_str(out, "protocol", tg_protocol_name(req->endpoint->protocol));
    tg_json_put_int(out, "stream", req->stream);
    tg_json_put_int(out, "user_id", credential->user_id);
    tg_json_put_int(out, "token_id", credential->token_id);
    tg_json_put_str(out, "token_name", or_empty(credential->token_name));
    tg_json_put_str(out, "team", or_empty(credential->team));
    tg_json_put_str(out, "address", or_empty(req->address_text));
}

/* The attempt that served, else the last one. */
static const struct tg_attempt *shown_attempt(const struct tg_request *req)
{
    const struct tg_attempt *last = req->attempts;

    if (req->served != NULL || last == NULL)
        return req->served;
    while (last->next != NULL)
        last = last->next;
    return last;
}

static void put_route(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_attempt *attempt = shown_attempt(req);
    const char *served = req->served != NULL ? or_empty(req->served->model) : "";

    tg_json_put_str(out, "requested_model", or_empty(req->model));
    tg_json_put_str(out, "served_model", served);
    tg_json_put_str(out, "upstream_model",
                    attempt != NULL ? or_empty(attempt->upstream_model) : "");
    tg_json_put_str(out, "group_name",
                    req->quote != NULL ? or_empty(req->quote->group) : or_empty(req->group));
    tg_json_put_int(out, "channel_id", attempt != NULL ? attempt->channel_id : 0);
    tg_json_put_str(out, "key_hint", attempt != NULL ? or_empty(attempt->key_hint) : "");
    tg_json_put_int(out, "was_fallback",
                    req->served != NULL && strcmp(served, or_empty(req->model)) != 0);
    tg_json_put_int(out, "attempts", req->attempt_count);
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
    tg_json_put_int(out, "status", status_of(req));
    tg_json_put_str(out, "error_code", req->error.class != TG_OK ? req->error.code : "");
    tg_json_put_str(out, "end_reason", tg_end_reason_name(req->end_reason));
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

    tg_json_put_int(out, "input", usage->input);
    tg_json_put_int(out, "cache_read", usage->cache_read);
    tg_json_put_int(out, "cache_write_5m", usage->cache_write_5m);
    tg_json_put_int(out, "cache_write_1h", usage->cache_write_1h);
    tg_json_put_int(out, "output", usage->output);
    tg_json_put_int(out, "reasoning", usage->reasoning);
    tg_json_put_int(out, "image", usage->image_in);
    tg_json_put_int(out, "audio_in", usage->audio_in);
    tg_json_put_int(out, "audio_out", usage->audio_out);
    tg_json_put_int(out, "tool_calls", usage->tool_calls);
    tg_json_put_str(out, "usage_source", usage_source(usage));
}

static void put_money(struct tg_json_writer *out, const struct tg_request *req)
{
    const struct tg_quote *quote = req->quote != NULL || req->quote_count == 0 ? req->quote
                                                                                : req->quotes;

    tg_json_put_int(out, "quota", req->bill_quota);
    tg_json_put_str(out, "funding",
                    !req->held ? "" : req->funding.plan_id != 0 ? "plan" : "wallet");
    tg_json_put_str(out, "price_hash", quote != NULL ? quote->price.hash : "");
}

static void put_times(struct tg_json_writer *out, const struct tg_request *req)
{
    tg_json_put_int(out, "first_token_us", req->first_token_us);
    tg_json_put_int(out, "total_us", tg_now_us() - req->started_at_us);
    tg_json_key(out, "stages_json");
    tg_json_begin_object(out);
    for (int stage = 0; stage < TG_STAGE__COUNT; stage++)
        if (req->stage_us[stage] != 0)
            tg_json_put_int(out, tg_stage_name((enum tg_stage)stage), req->stage_us[stage]);
    tg_json_end_object(out);
    tg_json_put_int(out, "request_bytes", req->request_bytes);
    tg_json_put_int(out, "response_bytes", req->sent_bytes + (int64_t)req->tail.len);
}

static void put_attempt(struct tg_json_writer *out, const struct tg_attempt *attempt)
{
    tg_json_begin_object(out);
    tg_json_put_int(out, "number", attempt->number);
    tg_json_put_int(out, "tier", attempt->tier);
    tg_json_put_int(out, "channel_id", attempt->channel_id);
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
