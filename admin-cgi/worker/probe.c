#include "admin-cgi/worker/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/fcgi/client.h"
#include "common/json/json.h"
#include "common/json/writer.h"
#include "common/store/routing.h"
#include "common/store/view.h"

static const int64_t wait_us = INT64_C(70000000);
enum { ANSWER_LIMIT = 1 << 20 };

static void sign(const struct worker_probe *probe, int64_t now_s, char hex[TG_HMAC_HEX])
{
    char text[64];
    uint8_t hmac[TG_HMAC_BYTES];
    int len = snprintf(text, sizeof text, "channel-test:%" PRId64 ":%" PRId64, probe->channel_id,
                       now_s);

    tg_hmac(probe->secrets->internal_key, text, (size_t)len, hmac);
    tg_hex(hmac, sizeof hmac, hex);
}

static void write_wish(const struct worker_probe *probe, int64_t version, struct tg_buf *ret)
{
    struct tg_json_writer out;

    tg_json_writer_init(&out, ret);
    tg_json_begin_object(&out);
    tg_json_put_int(&out, "channel_id", probe->channel_id);
    tg_json_put_int(&out, "version", version);
    if (probe->balance)
        tg_json_put_str(&out, "what", "balance");
    if (probe->model != NULL && *probe->model != '\0')
        tg_json_put_str(&out, "model", probe->model);
    tg_json_end_object(&out);
}

static enum tg_class ask(const struct worker_probe *probe, const struct tg_buf *wish,
                         struct tg_buf *bytes, struct tg_fcgi_answer *ret, struct tg_error *err)
{
    char signature[TG_HMAC_HEX], seconds[24], len[24];
    int64_t now_s = tg_unix_us() / 1000000;
    const struct tg_fcgi_pair params[] = {
        {"GATEWAY_INTERFACE", "CGI/1.1"},
        {"SERVER_PROTOCOL", "HTTP/1.1"},
        {"REQUEST_METHOD", "POST"},
        {"REQUEST_URI", "/tollgate/channel-test"},
        {"SCRIPT_NAME", "/tollgate/channel-test"},
        {"QUERY_STRING", ""},
        {"REMOTE_ADDR", "127.0.0.1"},
        {"CONTENT_TYPE", "application/json"},
        {"CONTENT_LENGTH", len},
        {"HTTP_X_TOLLGATE_INTERNAL", signature},
        {"HTTP_X_TOLLGATE_TIME", seconds},
    };
    const struct tg_fcgi_call call = {
        .address = tg_conf_text(probe->conf, TG_OPTION_LISTEN_ADDRESS),
        .params = params,
        .param_count = TG_COUNT_OF(params),
        .body = {wish->data, wish->len},
        .deadline_at_us = tg_now_us() + wait_us,
        .answer_limit_bytes = ANSWER_LIMIT};

    sign(probe, now_s, signature);
    snprintf(seconds, sizeof seconds, "%" PRId64, now_s);
    snprintf(len, sizeof len, "%zu", wish->len);
    return tg_fcgi_ask(&call, bytes, ret, err);
}

/* The worker's document is ours when it is one; {"ok":false} and error bodies are failures. */
static enum tg_class take(const struct tg_fcgi_answer *answer, struct tg_buf *document,
                          bool *ret_ok, struct tg_error *err)
{
    struct tg_json *root = NULL;
    bool ok = false;
    enum tg_class class = tg_json_parse(answer->body.ptr, answer->body.len, &root, err);

    if (class != TG_OK || tg_json_type(root) != TG_JSON_OBJECT) {
        if (class == TG_OK)
            tg_json_free(root);
        return tg_fail(err, TG_CLASS_TRANSPORT, "fcgi_protocol",
                       "the gateway answered %d without a document", answer->status);
    }
    if (tg_json_get_bool(root, "ok", &ok) != TG_JSON_GOT)
        ok = answer->status == 200;
    *ret_ok = ok && answer->status == 200;
    tg_buf_add(document, answer->body.ptr, answer->body.len);
    tg_json_free(root);
    return TG_OK;
}

static enum tg_class require_channel(const struct worker_probe *probe, struct tg_error *err)
{
    struct tg_json_writer unused;
    struct tg_buf buf;
    enum tg_class class;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&unused, &buf);
    class = tg_view_channel(probe->main_db, probe->channel_id, &unused, err);
    tg_buf_done(&buf);
    return class;
}

enum tg_class worker_probe(const struct worker_probe *probe, struct tg_buf *document, bool *ret_ok,
                           struct tg_error *err)
{
    struct tg_fcgi_answer answer;
    struct tg_buf wish, bytes;
    int64_t version = 0;
    enum tg_class class = probe->channel_id != 0 ? require_channel(probe, err) : TG_OK;

    if (class == TG_OK)
        class = tg_store_routing_version(probe->main_db, &version, err);
    if (class != TG_OK)
        return class;
    tg_buf_init(&wish, 0);
    write_wish(probe, version, &wish);
    class = ask(probe, &wish, &bytes, &answer, err);
    if (class == TG_OK)
        class = take(&answer, document, ret_ok, err);
    tg_buf_done(&bytes);
    tg_buf_done(&wish);
    return class;
}
