#include "fcgi-app/relay/relay.h"

#include "fcgi-app/reply.h"

#include <string.h>

enum { NO_CHANNEL_RETRY_MS = 5000 };

/* R1: reported by the upstream and content came. R2: content came, nothing was reported. R3: no
 * content, no bill; what the upstream reported then is in the attempt's record. */
void tg_relay_bill(struct tg_request *req, const struct tg_transfer *transfer)
{
    if (!transfer->arrived)
        return;
    req->counted_output = transfer->counted_output;
    if (transfer->has_usage) {
        req->usage = transfer->usage;
        req->usage.source = TG_USAGE_UPSTREAM;
        tg_usage_clamp(&req->usage);
    } else {
        req->usage = (struct tg_usage){
            .semantics = TG_USAGE_INPUT_INCLUDES_CACHE,
            .source = TG_USAGE_COUNTED_LOCALLY,
            .input = req->input_estimate,
            .output = transfer->counted_output,
        };
    }
    /* These search for every answer, and say nothing of it. */
    if (strstr(transfer->call->upstream_model, "search-preview") != NULL &&
        req->usage.tools[TG_TOOL_WEB_SEARCH] == 0)
        tg_usage_add_tool(&req->usage, TG_TOOL_WEB_SEARCH, 1);
}

void tg_relay_finish(struct tg_request *req, struct tg_transfer *transfer)
{
    if (!req->stream) {
        tg_reply_set_json(req, transfer->http.status, tg_buf_text(&transfer->body),
                          transfer->body.len);
        return;
    }
    /* A stream without content whose preamble went out has begun; one that has not must. */
    (void)tg_reply_begin_stream(req);
    tg_buf_reset(&req->tail);
    tg_buf_add(&req->tail, transfer->stream.terminal.data, transfer->stream.terminal.len);
}

enum tg_class tg_relay_no_channel(struct tg_error *err)
{
    (void)tg_fail(err, TG_CLASS_NO_CHANNEL, "no_channel",
                  "No upstream channel is available for this model.");
    err->retry_after_ms = NO_CHANNEL_RETRY_MS;
    return err->class;
}

/* 401, 402 and 403 of an upstream are answers to our credential, never to the client's: a client
 * that saw them would blame its own token. */
static bool is_about_us(const struct tg_error *error)
{
    return error->class == TG_CLASS_UPSTREAM && error->status >= 401 && error->status <= 403;
}

void tg_relay_fail(struct tg_request *req, const struct tg_error *error)
{
    /* What is wrong with a channel's settings is none of the client's business. */
    if ((error->flags & TG_ERROR_CHANNEL) != 0 && error->class != TG_CLASS_ACCOUNT)
        (void)tg_relay_no_channel(&req->error);
    else
        req->error = *error;
    if (is_about_us(error))
        req->error.class = TG_CLASS_ACCOUNT;
}
