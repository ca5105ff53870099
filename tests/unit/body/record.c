/* The record of a request: the columns' names and values, and no secret whatever happened. */
#include "tests/unit/unit.h"

#include "common/json/json.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/record/record.h"
#include "fcgi-app/worker.h"

#include <stdio.h>

#define CANARY "sk-canary-7f3a91"

static const struct tg_endpoint endpoint = {"chat_completions", "POST", "/v1/chat/completions",
                                            TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE};
static struct tg_worker worker = {.node = "node-1"};
static const struct tg_credential credential = {
    .token_id = 7, .user_id = 3, .token_name = "laptop", .team = "red"};

static struct tg_attempt second = {.number = 2,
                                   .channel_id = 12,
                                   .key_id = 5,
                                   .key_hint = "abcd",
                                   .model = "m",
                                   .upstream_model = "up-m",
                                   .status = 200,
                                   .source = "channel",
                                   .action = "success",
                                   .reason = ""};
static struct tg_attempt first = {.number = 1,
                                  .channel_id = 11,
                                  .key_hint = "wxyz",
                                  .model = "m",
                                  .upstream_model = "up-m",
                                  .status = 500,
                                  .error_code = "upstream_error",
                                  .source = "upstream",
                                  .action = "retry",
                                  .reason = "status",
                                  .maybe_accepted = true,
                                  .next = &second};

/* Every place where a secret could stand holds a canary. */
static void fill(struct tg_request *req)
{
    static struct tg_quote quote = {.model = "m", .group = "gold", .group_ratio = "1"};

    *req = (struct tg_request){.worker = &worker,
                               .id_text = "01a22d5a-9037-7652-88a1-8c2bc1e0e488",
                               .created_unix_us = INT64_C(1796000000123456),
                               .method = "POST",
                               .path = "/v1/chat/completions",
                               .query = "key=" CANARY,
                               .client_request_id = "mine",
                               .address_text = "192.0.2.7",
                               .endpoint = &endpoint,
                               .credential = &credential,
                               .group = "gold",
                               .token_hmac = CANARY,
                               .body = {CANARY, sizeof CANARY - 1},
                               .model = "m",
                               .stream = true,
                               .quotes = &quote,
                               .quote_count = 1,
                               .held = true,
                               .attempts = &first,
                               .attempt_count = 2,
                               .served = &second,
                               .quote = &quote,
                               .answer_status = 200,
                               .headers_sent = true,
                               .end_reason = TG_END_DONE,
                               .first_token_us = 1234,
                               .bill_quota = 42};
    snprintf(quote.price.hash, sizeof quote.price.hash, "abc123");
    req->usage = (struct tg_usage){.source = TG_USAGE_UPSTREAM, .input = 10, .output = 20,
                                   .cache_read = 3, .reasoning = 4};
    req->stage_us[TG_STAGE_ACCESS] = 55;
    tg_buf_init(&req->tail, 0);
    tg_buf_str(&req->tail, CANARY);
    tg_buf_init(&req->bill_steps, 0);
    tg_buf_str(&req->bill_steps, "{\"quota\":42}");
    req->sent_bytes = 100;
    snprintf(req->error.message, sizeof req->error.message, "upstream said %s", CANARY);
}

static struct tg_json *write(const struct tg_request *req, struct tg_buf *text)
{
    struct tg_json *json = NULL;
    struct tg_error err;

    tg_buf_init(text, 0);
    tg_record_write(req, text);
    assert_int_equal(tg_json_parse(text->data, text->len, &json, &err), TG_OK);
    return json;
}

/* What is empty or zero is left out. */
static void expect_absent(const struct tg_json *log, const char *key)
{
    const struct tg_json *got;

    assert_int_equal(tg_json_get(log, key, &got), TG_JSON_GOT_ABSENT);
}

static void expect_text(const struct tg_json *log, const char *key, const char *wanted)
{
    struct tg_span got;

    assert_int_equal(tg_json_get_string(log, key, &got), TG_JSON_GOT);
    assert_string_equal(got.ptr, wanted);
}

static void expect_int(const struct tg_json *log, const char *key, int64_t wanted)
{
    int64_t got;

    assert_int_equal(tg_json_get_int(log, key, &got), TG_JSON_GOT);
    assert_int_equal(got, wanted);
}

static void a_served_request_is_recorded_by_its_columns(void **state)
{
    struct tg_request req;
    struct tg_buf text;
    struct tg_json *json;
    const struct tg_json *log, *detail, *part;

    (void)state;
    fill(&req);
    json = write(&req, &text);
    assert_int_equal(tg_json_get_object(json, "log", &log), TG_JSON_GOT);
    expect_text(log, "request_id", req.id_text);
    expect_text(log, "created_at", "2026-11-30 00:53:20.123456");
    expect_text(log, "node", "node-1");
    expect_text(log, "endpoint", "chat_completions");
    expect_text(log, "protocol", "chat");
    expect_text(log, "token_name", "laptop");
    expect_text(log, "served_model", "m");
    expect_text(log, "upstream_model", "up-m");
    expect_text(log, "group_name", "gold");
    expect_text(log, "key_hint", "abcd");
    expect_absent(log, "error_code");
    expect_text(log, "end_reason", "done");
    expect_text(log, "usage_source", "upstream");
    expect_text(log, "funding", "wallet");
    expect_text(log, "price_hash", "abc123");
    expect_int(log, "stream", 1);
    expect_int(log, "channel_id", 12);
    expect_absent(log, "was_fallback");
    expect_int(log, "attempts", 2);
    expect_int(log, "status", 200);
    expect_int(log, "input", 10);
    expect_int(log, "cache_read", 3);
    expect_int(log, "reasoning", 4);
    expect_int(log, "quota", 42);
    expect_int(log, "response_bytes", 100 + (int64_t)strlen(CANARY));
    assert_int_equal(tg_json_get_object(log, "stages_json", &part), TG_JSON_GOT);
    expect_int(part, "access", 55);
    assert_int_equal(tg_json_get_object(json, "detail", &detail), TG_JSON_GOT);
    assert_int_equal(tg_json_get_array(detail, "attempts_json", &part), TG_JSON_GOT);
    assert_int_equal(tg_json_array_len(part), 2);
    expect_text(tg_json_array_at(part, 0), "error_code", "upstream_error");
    assert_int_equal(tg_json_get_object(detail, "bill_json", &part), TG_JSON_GOT);
    expect_int(part, "quota", 42);
    assert_null(strstr(tg_buf_text(&text), "canary"));
    tg_json_free(json);
    tg_buf_done(&text);
    tg_buf_done(&req.tail);
    tg_buf_done(&req.bill_steps);
}

static void a_refused_request_has_a_record_too(void **state)
{
    struct tg_request req = {.worker = &worker,
                             .id_text = "01a22d5a-9037-7652-88a1-8c2bc1e0e488",
                             .endpoint = &endpoint,
                             .credential = &credential,
                             .answer_status = 403};
    struct tg_buf text;
    struct tg_json *json;
    const struct tg_json *log;

    (void)state;
    tg_fail(&req.error, TG_CLASS_FORBIDDEN, "access_denied", CANARY);
    json = write(&req, &text);
    assert_int_equal(tg_json_get_object(json, "log", &log), TG_JSON_GOT);
    expect_int(log, "status", 403);
    expect_text(log, "error_code", "access_denied");
    expect_absent(log, "requested_model");
    expect_text(log, "usage_source", "none");
    expect_absent(log, "quota");
    assert_null(strstr(tg_buf_text(&text), "canary"));
    tg_json_free(json);
    tg_buf_done(&text);
}

static void a_client_that_left_before_the_answer_is_499(void **state)
{
    struct tg_request req = {.worker = &worker,
                             .id_text = "01a22d5a-9037-7652-88a1-8c2bc1e0e488",
                             .endpoint = &endpoint,
                             .credential = &credential,
                             .end_reason = TG_END_CLIENT_GONE};
    struct tg_buf text;
    struct tg_json *json;
    const struct tg_json *log;

    (void)state;
    json = write(&req, &text);
    assert_int_equal(tg_json_get_object(json, "log", &log), TG_JSON_GOT);
    expect_int(log, "status", 499);
    expect_text(log, "end_reason", "client_gone");
    tg_json_free(json);
    tg_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_served_request_is_recorded_by_its_columns),
        cmocka_unit_test(a_refused_request_has_a_record_too),
        cmocka_unit_test(a_client_that_left_before_the_answer_is_499),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
