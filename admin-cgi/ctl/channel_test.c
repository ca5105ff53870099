/* channel test: only workers can open a channel's key, so one of them is asked to make the call. */
#include "admin-cgi/ctl/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/fcgi/client.h"
#include "common/json/json.h"
#include "common/store/view.h"

static const int64_t wait_us = INT64_C(60000000);
enum { ANSWER_LIMIT = 1 << 20 };

/* The worker knows the caller by the key that only this installation has. */
static void sign(const struct ctl *ctl, int64_t id, int64_t now_s, char hex[TG_HMAC_HEX])
{
    char text[64];
    uint8_t hmac[TG_HMAC_BYTES];
    int len = snprintf(text, sizeof text, "channel-test:%" PRId64 ":%" PRId64, id, now_s);

    tg_hmac(ctl->secrets.internal_key, text, (size_t)len, hmac);
    tg_hex(hmac, sizeof hmac, hex);
}

static enum tg_class ask(struct ctl *ctl, int64_t id, struct tg_buf *bytes,
                         struct tg_fcgi_answer *ret)
{
    char signature[TG_HMAC_HEX], seconds[24], body[64], len[16];
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
    struct tg_fcgi_call call = {.address = tg_conf_text(ctl->conf, TG_OPTION_LISTEN_ADDRESS),
                                .params = params,
                                .param_count = TG_COUNT_OF(params),
                                .deadline_at_us = tg_now_us() + wait_us,
                                .answer_limit_bytes = ANSWER_LIMIT};

    sign(ctl, id, now_s, signature);
    snprintf(seconds, sizeof seconds, "%" PRId64, now_s);
    call.body.ptr = body;
    call.body.len = (size_t)snprintf(body, sizeof body, "{\"channel_id\":%" PRId64 "}", id);
    snprintf(len, sizeof len, "%zu", call.body.len);
    return tg_fcgi_ask(&call, bytes, ret, &ctl->err);
}

/* The worker's document is ours when it is one; {"ok":false} and error bodies are failures. */
static enum tg_class take_answer(struct ctl *ctl, const struct tg_fcgi_answer *answer)
{
    struct tg_json *root = NULL;
    bool ok = false;
    enum tg_class class = tg_json_parse(answer->body.ptr, answer->body.len, &root, &ctl->err);

    if (class != TG_OK || tg_json_type(root) != TG_JSON_OBJECT) {
        if (class == TG_OK)
            tg_json_free(root);
        return tg_fail(&ctl->err, TG_CLASS_TRANSPORT, "fcgi_protocol",
                       "the gateway answered %d without a document", answer->status);
    }
    if (tg_json_get_bool(root, "ok", &ok) != TG_JSON_GOT)
        ok = answer->status == 200;
    tg_json_write_raw(&ctl->out, answer->body.ptr, answer->body.len);
    ctl->failed = !ok || answer->status != 200;
    tg_json_free(root);
    return TG_OK;
}

static enum tg_class require_channel(struct ctl *ctl, int64_t id)
{
    struct tg_json_writer unused;
    struct tg_buf buf;
    enum tg_class class;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&unused, &buf);
    class = tg_view_channel(ctl->main_db, id, &unused, &ctl->err);
    tg_buf_done(&buf);
    return class;
}

enum tg_class ctl_cmd_channel_test(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_fcgi_answer answer;
    struct tg_buf bytes;
    int64_t id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_secrets(ctl);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = require_channel(ctl, id);
    if (class != TG_OK)
        return class;
    class = ask(ctl, id, &bytes, &answer);
    if (class == TG_OK)
        class = take_answer(ctl, &answer);
    tg_buf_done(&bytes);
    return class;
}
