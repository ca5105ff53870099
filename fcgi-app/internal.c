#include "common/base/clock.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/internal.h"
#include "fcgi-app/relay/test.h"
#include "fcgi-app/worker.h"

void tg_answer_channel_test(struct tg_request *req)
{
    struct tg_internal_call call = {
        .signature = tg_fcgi_header(req->fcgi, "x-tollgate-internal"),
        .time = tg_fcgi_header(req->fcgi, "x-tollgate-time"),
        .now_s = tg_unix_us() / 1000000,
    };
    struct tg_channel_test test = {0};
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
        test.model = tg_arena_strndup(req->arena, name.ptr, name.len);
    if (tg_json_get_int(req->json, "version", &test.version) != TG_JSON_GOT)
        test.version = 0;
    test.channel_id = call.channel_id;
    tg_channel_test(req, &test);
}
