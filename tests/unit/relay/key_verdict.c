/* What a refusal means for the key: every vendor's way of saying when. */
#include "tests/unit/unit.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/relay/classify.h"
#include "fcgi-app/relay/key_verdict.h"
#include "fcgi-app/relay/wait.h"

#include <stdio.h>

/* Wed, 21 Oct 2026 07:27:30 GMT; a day of the key ends in 5 hours, one of the Pacific in 3. */
static const int64_t now_s = 1792567650;
static const int64_t reset_s = 1792567650 + 18000, pacific_s = 1792567650 + 10800;

enum { SIGNS_MOST = 6 };
struct said {
    const char *name, *value;
};

static struct tg_key_verdict judged(int status, const char *body, const struct said *said,
                                    bool rested)
{
    const char *signs[TG_SIGN__COUNT] = {NULL};
    struct tg_span text = {body, strlen(body)};
    static const struct tg_retry_hints none;
    struct tg_error error;

    for (size_t i = 0; i < SIGNS_MOST && said[i].name != NULL; i++) {
        bool found = false;

        for (int at = 0; at < TG_SIGN__COUNT && !found; at++) {
            found = strcmp(tg_key_sign_names[at], said[i].name) == 0;
            if (found)
                signs[at] = said[i].value;
        }
        assert_true(found);
    }
    tg_classify_status(status, text, &none, now_s * 1000000, &error);
    return tg_key_judge(&(struct tg_key_evidence){.error = &error,
                                                  .signs = signs,
                                                  .body = text,
                                                  .now_unix_us = now_s * 1000000,
                                                  .reset_s = reset_s,
                                                  .pacific_s = pacific_s,
                                                  .rested = rested});
}

#define LIMITED "{\"error\":{\"message\":\"Rate limit reached\",\"code\":\"rate_limit_exceeded\"}}"
#define DAILY "{\"error\":{\"message\":\"Limit of 200 requests per day reached\"}}"
#define GEMINI(details) \
    "{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"You exceeded your " \
    "current quota, please check your plan and billing details.\",\"details\":[" details "]}}"
#define DELAY \
    "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"36.4s\"}"
#define FAILURE(id) \
    "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[" \
    "{\"quotaId\":\"GenerateRequestsPerMinute\"},{\"quotaId\":\"" id "\"}]}"
#define PER_DAY FAILURE("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
#define CODEX(when) "{\"error\":{\"type\":\"usage_limit_reached\",\"message\":\"x\"," when "}}"

static const struct {
    const char *why;
    int status;
    const char *body;
    struct said said[SIGNS_MOST];
    enum tg_key_state state;
    int64_t wait_s;
    const char *reason;
} refusals[] = {
    /* waits: field report 105 */
    {"a number", 429, LIMITED, {{"retry-after", "7"}}, TG_KEY_RESTING, 7, "rate_limited"},
    {"a date", 429, LIMITED, {{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}, TG_KEY_RESTING,
     30, "rate_limited"},
    {"zero", 429, LIMITED, {{"retry-after", "0"}}, TG_KEY_RESTING, 1, "rate_limited"},
    {"less than zero", 429, LIMITED, {{"retry-after", "-5"}}, TG_KEY_RESTING, 1, "rate_limited"},
    {"a date that is over", 429, LIMITED, {{"retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"}},
     TG_KEY_RESTING, 1, "rate_limited"},
    {"no wait", 429, LIMITED, {{"retry-after", "abc"}}, TG_KEY_RESTING, 60, "rate_limited"},
    {"for ever", 429, LIMITED, {{"retry-after", "999999999"}}, TG_KEY_RESTING, 86400,
     "rate_limited"},
    {"milliseconds", 429, LIMITED, {{"retry-after-ms", "1500"}}, TG_KEY_RESTING, 2,
     "rate_limited"},
    {"nothing", 429, LIMITED, {{NULL, NULL}}, TG_KEY_RESTING, 60, "rate_limited"},
    {"nothing at all", 429, "", {{NULL, NULL}}, TG_KEY_RESTING, 60, "rate_limited"},
    {"hours are not cut", 429, LIMITED, {{"retry-after", "7999"}}, TG_KEY_RESTING, 7999,
     "rate_limited"},
    {"Azure", 429, LIMITED, {{"x-ms-retry-after-ms", "2001"}}, TG_KEY_RESTING, 3, "rate_limited"},
    /* limits: only what has nothing left counts, and of that the latest */
    {"OpenAI", 429, LIMITED,
     {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "6m0s"},
      {"x-ratelimit-remaining-tokens", "90"}, {"x-ratelimit-reset-tokens", "9h"}},
     TG_KEY_RESTING, 360, "rate_limited"},
    {"both", 429, LIMITED,
     {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "20ms"},
      {"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "1.2s"}},
     TG_KEY_RESTING, 2, "rate_limited"},
    {"Retry-After before them", 429, LIMITED,
     {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "6m0s"},
      {"retry-after", "9"}}, TG_KEY_RESTING, 9, "rate_limited"},
    {"Anthropic", 429, LIMITED,
     {{"anthropic-ratelimit-input-tokens-remaining", "0"},
      {"anthropic-ratelimit-input-tokens-reset", "2026-10-21T07:28:30Z"},
      {"anthropic-ratelimit-requests-remaining", "3"},
      {"anthropic-ratelimit-requests-reset", "2026-10-21T08:28:30Z"}},
     TG_KEY_RESTING, 60, "rate_limited"},
    {"Groq, of a day", 429, LIMITED,
     {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "7h12m0s"},
      {"x-ratelimit-remaining-tokens", "5990"}, {"x-ratelimit-reset-tokens", "7.66s"}},
     TG_KEY_RESTING, 25920, "rate_limited"},
    {"Azure's nonsense", 429, LIMITED,
     {{"x-ratelimit-remaining-requests", "-1"}, {"x-ratelimit-reset-requests", "-1"},
      {"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "0"}},
     TG_KEY_RESTING, 60, "rate_limited"},
    {"OpenRouter, in milliseconds", 429,
     "{\"error\":{\"message\":\"Rate limit exceeded: free-models-per-day\",\"code\":429}}",
     {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1792571250000"}},
     TG_KEY_RESTING, 3600, "rate_limited"},
    {"OpenRouter, no end", 429,
     "{\"error\":{\"message\":\"Rate limit exceeded: free-models-per-day\",\"code\":429}}",
     {{NULL, NULL}}, TG_KEY_EXHAUSTED, 900, "daily_quota"},
    {"Bedrock", 429, "{\"__type\":\"ThrottlingException\",\"message\":\"Too many requests\"}",
     {{NULL, NULL}}, TG_KEY_RESTING, 60, "rate_limited"},
    {"the draft", 429, LIMITED, {{"ratelimit-remaining", "0"}, {"ratelimit-reset", "11"}},
     TG_KEY_RESTING, 11, "rate_limited"},
    {"in words", 429, "{\"error\":{\"message\":\"Please try again in 1m2.5s. Visit\"}}",
     {{NULL, NULL}}, TG_KEY_RESTING, 63, "rate_limited"},
    /* plans */
    {"one window", 429, LIMITED,
     {{"anthropic-ratelimit-unified-status", "rejected"},
      {"anthropic-ratelimit-unified-5h-status", "rejected"},
      {"anthropic-ratelimit-unified-5h-reset", "1792571250"},
      {"anthropic-ratelimit-unified-7d-status", "allowed"},
      {"anthropic-ratelimit-unified-7d-reset", "1792667650"}, {"retry-after", "5"}},
     TG_KEY_EXHAUSTED, 3600, "plan_used_up"},
    {"the latest of two", 429, LIMITED,
     {{"anthropic-ratelimit-unified-5h-status", "rejected"},
      {"anthropic-ratelimit-unified-5h-reset", "1792571250"},
      {"anthropic-ratelimit-unified-7d-status", "rejected"},
      {"anthropic-ratelimit-unified-7d-reset", "1792667650"}},
     TG_KEY_EXHAUSTED, 100000, "plan_used_up"},
    {"no window but the whole", 429, LIMITED,
     {{"anthropic-ratelimit-unified-status", "rejected"},
      {"anthropic-ratelimit-unified-reset", "1792568650"}},
     TG_KEY_EXHAUSTED, 1000, "plan_used_up"},
    {"a window that allows", 429, LIMITED,
     {{"anthropic-ratelimit-unified-status", "allowed_warning"},
      {"anthropic-ratelimit-unified-reset", "1792568650"}, {"retry-after", "5"}},
     TG_KEY_RESTING, 5, "rate_limited"},
    {"of one model family", 429, LIMITED,
     {{"anthropic-ratelimit-unified-5h-status", "allowed"},
      {"anthropic-ratelimit-unified-5h-reset", "1792571250"},
      {"anthropic-ratelimit-unified-7d-sonnet-status", "rejected"},
      {"anthropic-ratelimit-unified-7d-sonnet-reset", "1792667650"},
      {"anthropic-ratelimit-unified-7d_oi-status", "rejected"},
      {"anthropic-ratelimit-unified-7d_oi-reset", "1792567750"}},
     TG_KEY_EXHAUSTED, 100000, "plan_used_up"},
    {"a plan's Retry-After of days is not cut to one", 429, LIMITED,
     {{"anthropic-ratelimit-unified-status", "rejected"}, {"retry-after", "259200"}},
     TG_KEY_EXHAUSTED, 259200, "plan_used_up"},
    {"but to what a weekly window can be", 429, LIMITED,
     {{"anthropic-ratelimit-unified-status", "rejected"}, {"retry-after", "99999999"}},
     TG_KEY_EXHAUSTED, 8 * 86400, "plan_used_up"},
    {"ChatGPT in the body", 429, CODEX("\"resets_in_seconds\":1234"),
     {{"x-codex-primary-used-percent", "99"}}, TG_KEY_EXHAUSTED, 1234, "plan_used_up"},
    {"as a moment", 429, CODEX("\"resets_at\":1793567649"), {{NULL, NULL}}, TG_KEY_EXHAUSTED,
     8 * 86400, "plan_used_up"},
    {"in headers", 429, LIMITED,
     {{"x-codex-primary-used-percent", "100"}, {"x-codex-primary-reset-after-seconds", "300"},
      {"x-codex-secondary-used-percent", "40.5"}, {"x-codex-secondary-reset-after-seconds", "9"}},
     TG_KEY_EXHAUSTED, 300, "plan_used_up"},
    {"the body before the headers", 429, CODEX("\"resets_in_seconds\":40"),
     {{"x-codex-primary-used-percent", "100"}, {"x-codex-primary-reset-after-seconds", "9000"}},
     TG_KEY_EXHAUSTED, 40, "plan_used_up"},
    {"a plan with one weekly window", 429, LIMITED,
     {{"x-codex-primary-used-percent", "100"}, {"x-codex-primary-reset-at", "1793067650"}},
     TG_KEY_EXHAUSTED, 500000, "plan_used_up"},
    {"no window is full", 429, LIMITED,
     {{"x-codex-primary-used-percent", "99"}, {"x-codex-primary-reset-after-seconds", "300"}},
     TG_KEY_RESTING, 60, "rate_limited"},
    {"both windows", 429, LIMITED,
     {{"x-codex-primary-used-percent", "100"}, {"x-codex-primary-reset-after-seconds", "300"},
      {"x-codex-secondary-used-percent", "101"}, {"x-codex-secondary-reset-after-seconds", "900"}},
     TG_KEY_EXHAUSTED, 900, "plan_used_up"},
    /* Gemini */
    {"RetryInfo", 429, GEMINI(DELAY), {{NULL, NULL}}, TG_KEY_RESTING, 37, "rate_limited"},
    {"in a list", 429, "[" GEMINI(DELAY) "]", {{NULL, NULL}}, TG_KEY_RESTING, 37, "rate_limited"},
    {"a day is not believed at once", 429, GEMINI(PER_DAY "," DELAY), {{NULL, NULL}},
     TG_KEY_RESTING, 37, "rate_limited"},
    {"without a delay it is", 429, GEMINI(PER_DAY), {{NULL, NULL}}, TG_KEY_EXHAUSTED, 10800,
     "daily_quota"},
    {"no details", 429, GEMINI(""), {{NULL, NULL}}, TG_KEY_RESTING, 60, "rate_limited"},
    {"a bad key", 400, "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a "
     "valid API key.\",\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"reason\":"
     "\"API_KEY_INVALID\"}]}}", {{NULL, NULL}}, TG_KEY_SUSPENDED, 0, "bad_key"},
    /* a day without an end */
    {"a day", 429, DAILY, {{NULL, NULL}}, TG_KEY_EXHAUSTED, 900, "daily_quota"},
    /* money */
    {"402", 402, "", {{NULL, NULL}}, TG_KEY_EXHAUSTED, 3600, "no_money"},
    {"Anthropic's 400", 400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your "
     "credit balance is too low to access the Anthropic API.\"}}", {{NULL, NULL}},
     TG_KEY_EXHAUSTED, 3600, "no_money"},
    {"OpenAI's 429", 429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}",
     {{"retry-after", "5"}}, TG_KEY_EXHAUSTED, 3600, "no_money"},
    {"a 403", 403, "{\"error\":{\"message\":\"Insufficient balance\"}}", {{NULL, NULL}},
     TG_KEY_EXHAUSTED, 3600, "no_money"},
    /* bad keys */
    {"401", 401, "", {{NULL, NULL}}, TG_KEY_SUSPENDED, 0, "bad_key"},
    {"401 with words", 401, "{\"error\":{\"code\":\"invalid_api_key\"}}", {{"retry-after", "5"}},
     TG_KEY_SUSPENDED, 0, "bad_key"},
    {"disabled", 403, "{\"error\":{\"message\":\"This organization has been disabled.\"}}",
     {{NULL, NULL}}, TG_KEY_SUSPENDED, 0, "bad_key"},
    /* not the key's fault */
    {"a bare 403", 403, "", {{"retry-after", "5"}}, TG_KEY_ACTIVE, 0, ""},
    {"the region", 403, "{\"error\":{\"message\":\"Country, region, or territory not supported\","
     "\"code\":\"unsupported_country_region_territory\"}}", {{NULL, NULL}}, TG_KEY_ACTIVE, 0, ""},
    {"the request", 400, "{\"error\":{\"message\":\"bad temperature\"}}", {{"retry-after", "5"}},
     TG_KEY_ACTIVE, 0, ""},
    {"the model", 404, "{\"error\":{\"code\":\"model_not_found\"}}", {{NULL, NULL}}, TG_KEY_ACTIVE,
     0, ""},
    {"the size", 413, "", {{NULL, NULL}}, TG_KEY_ACTIVE, 0, ""},
    {"the shape", 422, "", {{NULL, NULL}}, TG_KEY_ACTIVE, 0, ""},
    {"overload", 529, "{\"error\":{\"type\":\"overloaded_error\"}}", {{"retry-after", "5"}},
     TG_KEY_ACTIVE, 0, ""},
    {"503", 503, "", {{"retry-after", "5"}}, TG_KEY_ACTIVE, 0, ""},
    {"500 with words", 500, "{\"error\":{\"code\":\"invalid_api_key\"}}", {{NULL, NULL}},
     TG_KEY_ACTIVE, 0, ""},
};

static void a_refusal_is_a_verdict_on_the_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(refusals); i++) {
        struct tg_key_verdict verdict =
            judged(refusals[i].status, refusals[i].body, refusals[i].said, false);
        int64_t wait_s = verdict.until_s == 0 ? 0 : verdict.until_s - now_s;

        if (verdict.state != refusals[i].state || wait_s != refusals[i].wait_s ||
            strcmp(verdict.reason, refusals[i].reason) != 0)
            fail_msg("%s: %s for %lld s, %s", refusals[i].why, tg_key_state_name(verdict.state),
                     (long long)wait_s, verdict.reason);
    }
}

static void a_day_is_believed_when_it_is_said_again(void **state)
{
    static const struct said nothing[SIGNS_MOST];
    struct tg_key_verdict verdict = judged(429, GEMINI(PER_DAY "," DELAY), nothing, true);

    (void)state;
    assert_int_equal(verdict.state, TG_KEY_EXHAUSTED);
    assert_int_equal(verdict.until_s, pacific_s);
    verdict = judged(429, GEMINI(DELAY), nothing, true);
    assert_int_equal(verdict.state, TG_KEY_RESTING);
}

/* A reset that comes before the next look is the end; without any reset the look is. */
static void exhaustion_ends_with_the_key_s_day(void **state)
{
    static const struct {
        int64_t reset_in_s, wait_s;
    } cases[] = {{10, 10}, {3600, 3600}, {3601, 3600}, {0, 3600}, {-5, 3600}};
    struct tg_error error = {.class = TG_CLASS_ACCOUNT, .status = 402};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_int_equal(
            tg_key_judge(&(struct tg_key_evidence){.error = &error,
                                                   .now_unix_us = now_s * 1000000,
                                                   .reset_s = now_s + cases[i].reset_in_s})
                .until_s,
            now_s + cases[i].wait_s);
}

static void what_never_reached_an_upstream_says_nothing(void **state)
{
    struct tg_error error = {.class = TG_CLASS_TRANSPORT, .code = "upstream_unreachable"};

    (void)state;
    assert_int_equal(tg_key_judge(&(struct tg_key_evidence){.error = &error}).state,
                     TG_KEY_ACTIVE);
}

static void waits_in_every_form(void **state)
{
    static const struct {
        const char *text;
        bool good;
        int64_t ms;
    } cases[] = {
        {"7", true, 7000},
        {"1.5", true, 1500},
        {"6m0s", true, 360000},
        {"1h2m3s", true, 3723000},
        {"20ms", true, 20},
        {"1.0205s", true, 1020},
        {"999999999", true, INT64_C(999999999) * 1000}, /* a wait, not a moment of 2001 */
        {"1792567660", true, 10000},
        {"1792567660000", true, 10000},
        {"2026-10-21T07:27:40Z", true, 10000},
        {"2026-10-21T07:27:20Z", true, -10000},
        {"Wed, 21 Oct 2026 07:27:40 GMT", true, 10000},
        {"", false, 0},
        {"-5", false, 0},
        {"soon", false, 0},
        {"5x", false, 0},
        {"5s x", false, 0},
        {".", false, 0},
    };
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        ms = 0;
        if (tg_wait_read(cases[i].text, 1000, now_s * 1000000, &ms) != cases[i].good ||
            (cases[i].good && ms != cases[i].ms))
            fail_msg("%s: %lld", cases[i].text, (long long)ms);
    }
    assert_true(tg_wait_read("99999999999999999999999999999999", 86400000, 0, &ms));
    assert_true(ms > 0);
    assert_false(tg_wait_in_words("Please try again later", &ms));
    assert_true(tg_wait_in_words("Please Retry in 36.43s.", &ms));
    assert_int_equal(ms, 36430);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_is_a_verdict_on_the_key),
        cmocka_unit_test(a_day_is_believed_when_it_is_said_again),
        cmocka_unit_test(exhaustion_ends_with_the_key_s_day),
        cmocka_unit_test(what_never_reached_an_upstream_says_nothing),
        cmocka_unit_test(waits_in_every_form),
    };

    return cmocka_run_group_tests_name("key_verdict", tests, NULL, NULL);
}
