/* What an upstream's refusal says about request, channel and key. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/relay/classify.h"

#define NONE 0u
#define ACCOUNT (TG_ERROR_CHANNEL | TG_ERROR_KEY)

static const struct tg_retry_hints no_hints;

static struct tg_error classified(int status, const char *body, const struct tg_retry_hints *hints)
{
    struct tg_error error;

    tg_classify_status(status, (struct tg_span){body, strlen(body)}, hints, 0, &error);
    return error;
}

static void statuses_and_words_become_class_and_flags(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum tg_class class;
        unsigned flags;
    } cases[] = {
        {400, "{\"error\":{\"message\":\"bad temperature\",\"type\":\"invalid_request_error\"}}",
         TG_CLASS_UPSTREAM, TG_ERROR_NO_RETRY},
        {413, "", TG_CLASS_UPSTREAM, TG_ERROR_NO_RETRY},
        {422, "{\"detail\":\"no\"}", TG_CLASS_UPSTREAM, TG_ERROR_NO_RETRY},
        {401, "", TG_CLASS_ACCOUNT, ACCOUNT},
        {402, "", TG_CLASS_ACCOUNT, ACCOUNT},
        {403, "", TG_CLASS_UPSTREAM, NONE},
        {403, "{\"error\":{\"message\":\"Country, region, or territory not supported\","
              "\"code\":\"unsupported_country_region_territory\"}}",
         TG_CLASS_UPSTREAM, NONE},
        {403, "{\"error\":{\"message\":\"Project does not have access to model gpt-9\","
              "\"code\":\"model_not_found\"}}",
         TG_CLASS_UPSTREAM, NONE},
        {403, "{\"error\":{\"message\":\"This organization has been disabled.\"}}",
         TG_CLASS_ACCOUNT, ACCOUNT},
        {400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
              "\"Your credit balance is too low to access the API.\"}}",
         TG_CLASS_ACCOUNT, ACCOUNT},
        {400, "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API"
              " key.\",\"status\":\"INVALID_ARGUMENT\"}}",
         TG_CLASS_ACCOUNT, ACCOUNT},
        {429, "{\"error\":{\"message\":\"You exceeded your current quota, please check your plan"
              " and billing details.\",\"code\":\"insufficient_quota\"}}",
         TG_CLASS_ACCOUNT, ACCOUNT},
        {429, "{\"error\":{\"message\":\"Rate limit reached\",\"code\":\"rate_limit_exceeded\"}}",
         TG_CLASS_UPSTREAM, NONE},
        {404, "{\"error\":{\"message\":\"The model does not exist\",\"code\":\"model_not_found\"}}",
         TG_CLASS_UPSTREAM, TG_ERROR_NEXT_CHANNEL},
        {500, "<html>oops</html>", TG_CLASS_UPSTREAM, NONE},
        {503, "", TG_CLASS_UPSTREAM, NONE},
        {500, "{\"error\":{\"message\":\"invalid api key cache\",\"code\":\"invalid_api_key\"}}",
         TG_CLASS_UPSTREAM, NONE},
        {302, "", TG_CLASS_UPSTREAM, NONE},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_error error = classified(cases[i].status, cases[i].body, &no_hints);

        if (error.class != cases[i].class || error.flags != cases[i].flags)
            fail_msg("case %zu: %s, flags %x", i, tg_class_name(error.class), error.flags);
        assert_int_equal(error.status, cases[i].status);
        assert_string_not_equal(error.code, "");
        assert_string_not_equal(error.message, "");
    }
}

static void an_error_inside_a_good_answer_counts_as_its_own_code(void **state)
{
    static const struct {
        const char *body;
        int status;
        enum tg_class class;
        unsigned flags;
    } cases[] = {
        {"{\"error\":{\"message\":\"slow down\",\"code\":429}}", 429, TG_CLASS_UPSTREAM, NONE},
        {"{\"error\":{\"message\":\"x\",\"type\":\"overloaded_error\"}}", 529, TG_CLASS_UPSTREAM,
         NONE},
        {"{\"error\":{\"message\":\"x\",\"type\":\"invalid_request_error\"}}", 400,
         TG_CLASS_UPSTREAM, TG_ERROR_NO_RETRY},
        {"{\"error\":{\"message\":\"x\",\"type\":\"authentication_error\"}}", 401,
         TG_CLASS_ACCOUNT, ACCOUNT},
        {"{\"error\":{\"message\":\"x\",\"type\":\"server_error\"}}", 500, TG_CLASS_UPSTREAM,
         NONE},
        {"{\"error\":{\"message\":\"who knows\"}}", 500, TG_CLASS_UPSTREAM, NONE},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_span body = {cases[i].body, strlen(cases[i].body)};
        struct tg_error error;

        tg_error_body_read(200, body, &error);
        tg_classify_inside(&error);
        if (error.status != cases[i].status || error.class != cases[i].class ||
            error.flags != cases[i].flags)
            fail_msg("case %zu: %d %s, flags %x", i, error.status, tg_class_name(error.class),
                     error.flags);
    }
}

static void exchanges_without_an_answer_have_a_class_each(void **state)
{
    static const struct {
        enum tg_http_end end;
        bool body_sent;
        enum tg_class class;
        unsigned flags;
        const char *code;
    } cases[] = {
        {TG_HTTP_BAD_URL, false, TG_CLASS_TRANSPORT, TG_ERROR_CHANNEL, "channel_url_invalid"},
        {TG_HTTP_REFUSED_ADDRESS, false, TG_CLASS_TRANSPORT, TG_ERROR_CHANNEL,
         "channel_address_refused"},
        {TG_HTTP_DNS, false, TG_CLASS_TRANSPORT, NONE, "upstream_unreachable"},
        {TG_HTTP_CONNECT, false, TG_CLASS_TRANSPORT, NONE, "upstream_unreachable"},
        {TG_HTTP_TLS, false, TG_CLASS_TRANSPORT, NONE, "upstream_unreachable"},
        {TG_HTTP_TIMEOUT_CONNECT, false, TG_CLASS_TIMEOUT, NONE, "upstream_timeout"},
        {TG_HTTP_TIMEOUT_FIRST_BYTE, true, TG_CLASS_TIMEOUT, TG_ERROR_MAYBE_ACCEPTED,
         "upstream_timeout"},
        {TG_HTTP_TIMEOUT_IDLE, true, TG_CLASS_TIMEOUT,
         TG_ERROR_PARTLY_USED | TG_ERROR_MAYBE_ACCEPTED, "upstream_timeout"},
        {TG_HTTP_TIMEOUT_DEADLINE, true, TG_CLASS_TIMEOUT, TG_ERROR_MAYBE_ACCEPTED,
         "upstream_timeout"},
        {TG_HTTP_RESET, true, TG_CLASS_TRANSPORT, TG_ERROR_MAYBE_ACCEPTED, "upstream_truncated"},
        {TG_HTTP_RESET, false, TG_CLASS_TRANSPORT, NONE, "upstream_truncated"},
        {TG_HTTP_PROTOCOL, true, TG_CLASS_TRANSPORT, TG_ERROR_MAYBE_ACCEPTED, "upstream_invalid"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_http_result result = {.end = cases[i].end, .body_sent = cases[i].body_sent};
        struct tg_error error;

        tg_classify_end(&result, &error);
        assert_int_equal(error.class, cases[i].class);
        assert_int_equal(error.flags, cases[i].flags);
        assert_string_equal(error.code, cases[i].code);
        assert_int_equal(error.status, 0);
    }
}

static void waits_are_read_in_every_form(void **state)
{
    /* Sun, 06 Nov 1994 08:49:37 GMT */
    const int64_t then_us = INT64_C(784111777) * 1000000;
    static const struct {
        struct tg_retry_hints hints;
        int64_t wait_ms;
    } cases[] = {
        {{NULL, NULL, NULL}, 0},
        {{NULL, "7", NULL}, 7000},
        {{NULL, "0", NULL}, 0},
        {{NULL, "1.5", NULL}, 1500},
        {{NULL, "0.0004", NULL}, 0},
        {{NULL, "999999999999999999999999", NULL}, 300000},
        {{NULL, "-5", NULL}, 0},
        {{NULL, "soon", NULL}, 0},
        {{NULL, "", NULL}, 0},
        {{"250", "7", NULL}, 250},
        {{"1234.5", NULL, NULL}, 1235},
        {{"soon", "7", NULL}, 7000},
        {{NULL, "Sun, 06 Nov 1994 08:49:47 GMT", NULL}, 10000},
        {{NULL, "Sun, 06 Nov 1994 08:49:27 GMT", NULL}, 0},
        {{NULL, "Mon, 07 Nov 1994 08:49:37 GMT", NULL}, 300000},
        {{NULL, "Sun, 06 Nov 1994 08:49:47 GMT+1", NULL}, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        int64_t wait_ms = tg_retry_after_ms(&cases[i].hints, then_us);

        if (wait_ms != cases[i].wait_ms)
            fail_msg("case %zu: %lld", i, (long long)wait_ms);
    }
}

static void an_upstream_that_forbids_repeating_is_not_asked_again(void **state)
{
    const struct tg_retry_hints never = {NULL, "3", "false"}, please = {NULL, NULL, "true"};
    struct tg_error error = classified(503, "", &never);

    (void)state;
    assert_int_equal(error.flags, TG_ERROR_NEXT_CHANNEL);
    assert_int_equal(error.retry_after_ms, 3000);
    assert_int_equal(classified(503, "", &please).flags, NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_and_words_become_class_and_flags),
        cmocka_unit_test(an_error_inside_a_good_answer_counts_as_its_own_code),
        cmocka_unit_test(exchanges_without_an_answer_have_a_class_each),
        cmocka_unit_test(waits_are_read_in_every_form),
        cmocka_unit_test(an_upstream_that_forbids_repeating_is_not_asked_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
