#include "common/base/clock.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/internal.h"
#include "fcgi-app/relay/balance.h"
#include "fcgi-app/relay/test.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/worker.h"

#include <string.h>

/* A round over all channels: it goes on behind the caller's back. */
static void start_round(struct tg_request *req, bool balances)
{
    static const char done[] = "{\"ok\":true}";

    tg_shared_wish(req->worker->shared, balances ? TG_WISH_BALANCES : TG_WISH_TESTS);
    tg_reply_set_json(req, 200, done, sizeof done - 1);
}

void tg_answer_channel_test(struct tg_request *req)
{
    struct tg_internal_call call = {
        .signature = tg_fcgi_header(req->fcgi, "x-tollgate-internal"),
        .time = tg_fcgi_header(req->fcgi, "x-tollgate-time"),
        .now_s = tg_unix_us() / 1000000,
    };
    struct tg_channel_test test = {0};
    struct tg_span name, what = {"", 0};
    bool balance;
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
    (void)tg_json_get_string(req->json, "what", &what);
    balance = what.len == strlen("balance") && memcmp(what.ptr, "balance", what.len) == 0;
    if (call.channel_id == 0) {
        start_round(req, balance);
        return;
    }
    got = tg_json_get_string(req->json, "model", &name);
    if (got == TG_JSON_GOT && name.len > 0)
        test.model = tg_arena_strndup(req->arena, name.ptr, name.len);
    if (tg_json_get_int(req->json, "version", &test.version) != TG_JSON_GOT)
        test.version = 0;
    test.channel_id = call.channel_id;
    if (balance)
        tg_channel_balance_answer(req, &(struct tg_channel_balance_wish){
                                           .channel_id = call.channel_id,
                                           .version = test.version});
    else
        tg_channel_test(req, &test);
}
