#include "common/base/clock.h"
#include "common/crypto/crypto.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/internal.h"
#include "fcgi-app/relay/test.h"
#include "fcgi-app/worker.h"

#include <stdio.h>
#include <string.h>

enum { CLOCK_SLACK_S = 60, TIME_DIGITS_MOST = 18 };

bool tg_internal_signed(const uint8_t key[TG_KEY_BYTES], const struct tg_internal_call *call)
{
    char text[64];
    uint8_t wanted[TG_HMAC_BYTES], given[TG_HMAC_BYTES];
    int64_t seconds = 0;
    size_t len = call->time != NULL ? strlen(call->time) : 0;
    int text_len;

    if (len == 0 || len > TIME_DIGITS_MOST || call->signature == NULL ||
        strlen(call->signature) != 2 * sizeof given ||
        !tg_unhex(call->signature, sizeof given, given))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (call->time[i] < '0' || call->time[i] > '9')
            return false;
        seconds = seconds * 10 + (call->time[i] - '0');
    }
    if (seconds < call->now_s - CLOCK_SLACK_S || seconds > call->now_s + CLOCK_SLACK_S)
        return false;
    text_len = snprintf(text, sizeof text, "channel-test:%lld:%lld", (long long)call->channel_id,
                        (long long)seconds);
    tg_hmac(key, text, (size_t)text_len, wanted);
    return tg_equal_constant_time(wanted, given, sizeof wanted);
}

void tg_answer_channel_test(struct tg_request *req)
{
    struct tg_internal_call call = {
        .signature = tg_fcgi_header(req->fcgi, "x-tollgate-internal"),
        .time = tg_fcgi_header(req->fcgi, "x-tollgate-time"),
        .now_s = tg_unix_us() / 1000000,
    };
    const char *model = NULL;
    struct tg_span name;
    enum tg_json_got got;

    if (tg_json_parse(req->body.ptr != NULL ? req->body.ptr : "", req->body.len, &req->json,
                      &req->error) != TG_OK)
        return;
    if (tg_json_get_int(req->json, "channel_id", &call.channel_id) != TG_JSON_GOT) {
        tg_fail(&req->error, TG_CLASS_INVALID, "invalid_type", "'channel_id' must be a number.");
        return;
    }
    if (!tg_internal_signed(req->worker->secrets.internal_key, &call)) {
        tg_fail(&req->error, TG_CLASS_AUTH, "invalid_api_key", "The call is not signed rightly.");
        return;
    }
    got = tg_json_get_string(req->json, "model", &name);
    if (got == TG_JSON_GOT && name.len > 0)
        model = tg_arena_strndup(req->arena, name.ptr, name.len);
    tg_channel_test(req, call.channel_id, model);
}
