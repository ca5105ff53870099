#include "fcgi-app/relay/key_verdict.h"

#include "fcgi-app/convert/value.h"
#include "fcgi-app/relay/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    REST_USUAL_S = 60,
    REST_LEAST_S = 1,
    REST_MOST_S = 86400,
    WINDOW_MOST_S = 8 * 86400, /* a weekly one, and a clock that is wrong by hours */
    LOOK_MONEY_S = 3600,
    LOOK_DAY_S = 900,
    WORD = 64
};

const char *const tg_key_sign_names[TG_SIGN__COUNT] = {
    [TG_SIGN_RETRY_AFTER_MS] = "retry-after-ms",
    [TG_SIGN_MS_RETRY_AFTER_MS] = "x-ms-retry-after-ms",
    [TG_SIGN_RETRY_AFTER] = "retry-after",
    /* OpenAI, Azure, Groq, xAI; OpenRouter; the IETF's draft; Anthropic */
    [TG_SIGN_LEFT_FIRST] = "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit-remaining",
    "ratelimit-reset",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
    /* plans of Anthropic */
    [TG_SIGN_WINDOW_FIRST] = "anthropic-ratelimit-unified-5h-status",
    "anthropic-ratelimit-unified-5h-reset",
    "anthropic-ratelimit-unified-7d-status",
    "anthropic-ratelimit-unified-7d-reset",
    "anthropic-ratelimit-unified-7d_oi-status",
    "anthropic-ratelimit-unified-7d_oi-reset",
    "anthropic-ratelimit-unified-7d-sonnet-status",
    "anthropic-ratelimit-unified-7d-sonnet-reset",
    "anthropic-ratelimit-unified-status",
    "anthropic-ratelimit-unified-reset",
    /* plans of ChatGPT */
    [TG_SIGN_CODEX_FIRST] = "x-codex-primary-used-percent",
    "x-codex-primary-reset-at",
    "x-codex-primary-reset-after-seconds",
    "x-codex-secondary-used-percent",
    "x-codex-secondary-reset-at",
    "x-codex-secondary-reset-after-seconds",
};

static const char *sign(const struct tg_key_evidence *evidence, int i)
{
    return evidence->signs == NULL ? NULL : evidence->signs[i];
}

static int64_t now_s(const struct tg_key_evidence *evidence)
{
    return evidence->now_unix_us / 1000000;
}

/* The header's wait, in whole seconds, rounded up; false: none, or it is over. */
static bool sign_wait(const struct tg_key_evidence *evidence, int i, int64_t unit_ms,
                      int64_t *ret_s)
{
    const char *text = sign(evidence, i);
    int64_t ms;

    if (text == NULL || !tg_wait_read(text, unit_ms, evidence->now_unix_us, &ms) || ms <= 0)
        return false;
    *ret_s = ms / 1000 + (ms % 1000 != 0);
    return true;
}

/* --- plans: windows that are used up ------------------------------------------------------- */

/* {"error":{"type":"usage_limit_reached","resets_in_seconds":…,"resets_at":…}}: what the body says
 * comes first, headers have been seen to lag behind. */
static bool plan_in_body(const struct tg_key_evidence *evidence, int64_t *ret_s)
{
    static const char *const paths[] = {"error.resets_in_seconds", "error.resets_at"};
    struct tg_value value;
    char text[WORD];
    int64_t ms;

    if (strcmp(evidence->error->type, "usage_limit_reached") != 0 &&
        strcmp(evidence->error->code, "usage_limit_reached") != 0)
        return false;
    for (size_t i = 0; i < TG_COUNT_OF(paths); i++) {
        if (!tg_value_at(evidence->body, paths[i], &value))
            continue;
        if (!tg_value_string(&value, text, sizeof text)) /* as it stands: a number */
            snprintf(text, sizeof text, "%.*s", (int)TG_MIN(value.text.len, (size_t)WORD),
                     value.text.ptr);
        if (tg_wait_read(text, 1000, evidence->now_unix_us, &ms) && ms > 0) {
            *ret_s = ms / 1000;
            return true;
        }
    }
    return false;
}

/* The latest end of the windows that refuse, as their own header or Retry-After has it; the last
 * pair speaks for all when no other does. */
static bool plan_in_status(const struct tg_key_evidence *evidence, int64_t *ret_s)
{
    bool found = false;

    for (int i = TG_SIGN_WINDOW_FIRST; i < TG_SIGN_WINDOW_END; i += 2) {
        const char *status = sign(evidence, i);
        int64_t wait_s;

        if (found && i + 2 == TG_SIGN_WINDOW_END)
            break;
        if (status == NULL || strcasecmp(status, "rejected") != 0 ||
            (!sign_wait(evidence, i + 1, 1000, &wait_s) &&
             !sign_wait(evidence, TG_SIGN_RETRY_AFTER, 1000, &wait_s)))
            continue;
        *ret_s = found ? TG_MAX(*ret_s, wait_s) : wait_s;
        found = true;
    }
    return found;
}

static bool plan_in_percent(const struct tg_key_evidence *evidence, int64_t *ret_s)
{
    bool found = false;

    for (int i = TG_SIGN_CODEX_FIRST; i < TG_SIGN_CODEX_END; i += 3) {
        const char *percent = sign(evidence, i);
        int64_t used, wait_s;

        if (percent == NULL || !tg_wait_number(percent, 1000, &used) || used < 100000)
            continue;
        if (!sign_wait(evidence, i + 2, 1000, &wait_s) &&
            !sign_wait(evidence, i + 1, 1000, &wait_s))
            continue;
        *ret_s = found ? TG_MAX(*ret_s, wait_s) : wait_s;
        found = true;
    }
    return found;
}

/* --- waits --------------------------------------------------------------------------------- */

/* RetryInfo and QuotaFailure of google.rpc. */
struct google_details {
    bool has_delay, names_day;
    int64_t delay_s;
};

static bool names_day(const struct tg_value *detail)
{
    struct tg_value violations, violation, id;
    struct tg_walk walk;
    char text[128];

    if (!tg_value_at(detail->text, "violations", &violations))
        return false;
    for (tg_walk_begin(&walk, &violations); tg_walk_next(&walk, &violation);)
        if (tg_value_at(violation.text, "quotaId", &id) &&
            tg_value_string(&id, text, sizeof text) && strstr(text, "PerDay") != NULL)
            return true;
    return false;
}

static struct google_details read_details(struct tg_span body)
{
    struct google_details ret = {0};
    struct tg_value details, detail, delay;
    struct tg_walk walk;
    char text[WORD];
    int64_t ms;

    if (!tg_value_at(body, "error.details", &details) &&
        !tg_value_at(body, "0.error.details", &details))
        return ret;
    for (tg_walk_begin(&walk, &details); tg_walk_next(&walk, &detail);) {
        ret.names_day = ret.names_day || names_day(&detail);
        if (!tg_value_at(detail.text, "retryDelay", &delay) ||
            !tg_value_string(&delay, text, sizeof text) ||
            !tg_wait_read(text, 1000, 0, &ms))
            continue;
        ret.has_delay = true;
        ret.delay_s = TG_MAX(ret.delay_s, ms / 1000 + (ms % 1000 != 0));
    }
    return ret;
}

bool tg_google_retry_delay(struct tg_span body, int64_t *ret_s)
{
    const struct google_details details = read_details(body);

    if (details.has_delay)
        *ret_s = details.delay_s;
    return details.has_delay;
}

/* The latest reset of what has nothing left; of a count that is not said nothing is known. */
static bool wait_in_limits(const struct tg_key_evidence *evidence, int64_t *ret_s)
{
    bool found = false;

    for (int i = TG_SIGN_LEFT_FIRST; i < TG_SIGN_LEFT_END; i += 2) {
        const char *left = sign(evidence, i);
        int64_t wait_s;

        if (left == NULL || strcmp(left, "0") != 0 || !sign_wait(evidence, i + 1, 1000, &wait_s))
            continue;
        *ret_s = found ? TG_MAX(*ret_s, wait_s) : wait_s;
        found = true;
    }
    return found;
}

/* A number or a date is a wait even when it is over or nonsense: then the least one holds. */
static bool wait_asked(const struct tg_key_evidence *evidence, int64_t *ret_s)
{
    const char *after = sign(evidence, TG_SIGN_RETRY_AFTER);
    int64_t ms;

    if (sign_wait(evidence, TG_SIGN_RETRY_AFTER_MS, 1, ret_s) ||
        sign_wait(evidence, TG_SIGN_MS_RETRY_AFTER_MS, 1, ret_s) ||
        sign_wait(evidence, TG_SIGN_RETRY_AFTER, 1000, ret_s) || wait_in_limits(evidence, ret_s))
        return true;
    *ret_s = REST_LEAST_S;
    return after != NULL && (tg_wait_read(after[0] == '-' ? after + 1 : after, 1000,
                                          evidence->now_unix_us, &ms));
}

static bool says_day(const char *message)
{
    static const char *const words[] = {"per day", "daily limit", "daily quota", "(rpd)", "(tpd)",
                                        "requests-per-day", "per-day"};

    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (strcasestr(message, words[i]) != NULL)
            return true;
    return false;
}

/* --- verdicts ------------------------------------------------------------------------------ */

static struct tg_key_verdict rest(const struct tg_key_evidence *evidence, int64_t wait_s,
                                  const char *reason)
{
    wait_s = TG_MAX(TG_MIN(wait_s, REST_MOST_S), REST_LEAST_S);
    return (struct tg_key_verdict){TG_KEY_RESTING, now_s(evidence) + wait_s, reason};
}

/* Until <end_s>, but looked at before that, every <look_s>. */
static struct tg_key_verdict exhaust(const struct tg_key_evidence *evidence, int64_t end_s,
                                     int64_t look_s, const char *reason)
{
    int64_t next_s = now_s(evidence) + look_s;

    if (end_s <= now_s(evidence) || end_s > next_s)
        end_s = next_s;
    return (struct tg_key_verdict){TG_KEY_EXHAUSTED, end_s, reason};
}

static struct tg_key_verdict judge_limit(const struct tg_key_evidence *evidence)
{
    struct google_details google = read_details(evidence->body);
    int64_t wait_s;

    if (plan_in_body(evidence, &wait_s) || plan_in_status(evidence, &wait_s) ||
        plan_in_percent(evidence, &wait_s))
        return exhaust(evidence, now_s(evidence) + wait_s, WINDOW_MOST_S, "plan_used_up");
    if (google.names_day && (evidence->rested || !google.has_delay))
        return exhaust(evidence, evidence->pacific_s, REST_MOST_S, "daily_quota");
    if (google.has_delay)
        return rest(evidence, google.delay_s, "rate_limited");
    if (wait_asked(evidence, &wait_s))
        return rest(evidence, wait_s, "rate_limited");
    if (tg_wait_in_words(evidence->error->message, &wait_s))
        return rest(evidence, wait_s / 1000 + (wait_s % 1000 != 0), "rate_limited");
    if (says_day(evidence->error->message))
        return exhaust(evidence, evidence->reset_s, LOOK_DAY_S, "daily_quota");
    return rest(evidence, REST_USUAL_S, "rate_limited");
}

struct tg_key_verdict tg_key_judge(const struct tg_key_evidence *evidence)
{
    const struct tg_error *error = evidence->error;

    switch (error->status) {
    case 400:
    case 401:
    case 402:
    case 403:
    case 429:
        break;
    default:
        return (struct tg_key_verdict){TG_KEY_ACTIVE, 0, ""};
    }
    if (error->status == 402 || tg_error_says_money(error))
        return exhaust(evidence, evidence->reset_s, LOOK_MONEY_S, "no_money");
    if (error->status == 401 || tg_error_says_bad_key(error))
        return (struct tg_key_verdict){TG_KEY_SUSPENDED, 0, "bad_key"};
    if (error->status == 429)
        return judge_limit(evidence);
    return (struct tg_key_verdict){TG_KEY_ACTIVE, 0, ""};
}
