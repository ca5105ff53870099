#include "fcgi-app/relay/classify.h"

#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/relay/key_verdict.h"
#include "fcgi-app/relay/wait.h"

#include <strings.h>

enum { RETRY_AFTER_MOST_MS = 300000 };

/* --- no whole answer ----------------------------------------------------------------------- */

static const struct {
    enum tg_http_end end;
    enum tg_class class;
    unsigned flags;
    const char *code, *message;
} ends[] = {
    {TG_HTTP_BAD_URL, TG_CLASS_TRANSPORT, TG_ERROR_CHANNEL, "channel_url_invalid",
     "the channel's URL or a header is invalid"},
    {TG_HTTP_REFUSED_ADDRESS, TG_CLASS_TRANSPORT, TG_ERROR_CHANNEL, "channel_address_refused",
     "the channel's address may not be reached"},
    {TG_HTTP_DNS, TG_CLASS_TRANSPORT, 0, "upstream_unreachable", "the name was not resolved"},
    {TG_HTTP_CONNECT, TG_CLASS_TRANSPORT, 0, "upstream_unreachable", "no connection"},
    {TG_HTTP_TLS, TG_CLASS_TRANSPORT, 0, "upstream_unreachable", "TLS failed"},
    {TG_HTTP_TIMEOUT_CONNECT, TG_CLASS_TIMEOUT, 0, "upstream_timeout",
     "the upstream did not take the connection in time"},
    {TG_HTTP_TIMEOUT_FIRST_BYTE, TG_CLASS_TIMEOUT, 0, "upstream_timeout",
     "the upstream did not answer in time"},
    {TG_HTTP_TIMEOUT_DEADLINE, TG_CLASS_TIMEOUT, 0, "upstream_timeout",
     "the upstream did not answer before the request's deadline"},
    /* A request is repeated after silence only when not one byte of an answer had come. */
    {TG_HTTP_TIMEOUT_IDLE, TG_CLASS_TIMEOUT, TG_ERROR_PARTLY_USED, "upstream_timeout",
     "the upstream fell silent"},
    {TG_HTTP_RESET, TG_CLASS_TRANSPORT, 0, "upstream_truncated", "the connection broke"},
    {TG_HTTP_PROTOCOL, TG_CLASS_TRANSPORT, 0, "upstream_invalid", "the answer is not HTTP"},
};

void tg_classify_end(const struct tg_http_result *result, struct tg_error *ret)
{
    for (size_t i = 0; i < TG_COUNT_OF(ends); i++) {
        if (ends[i].end != result->end)
            continue;
        (void)tg_fail(ret, ends[i].class, ends[i].code, "%s", ends[i].message);
        ret->flags = ends[i].flags;
        if (result->body_sent)
            ret->flags |= TG_ERROR_MAYBE_ACCEPTED;
        return;
    }
    (void)tg_fail(ret, TG_CLASS_INTERNAL, "internal", "the exchange was stopped");
}

/* --- whose fault --------------------------------------------------------------------------- */

static bool says_account(const struct tg_error *error)
{
    switch (error->status) {
    case 401:
    case 402:
        return true;
    case 400:
    case 403:
    case 429:
        return tg_error_says_money(error) || tg_error_says_bad_key(error);
    default:
        return false;
    }
}

void tg_classify_inside(struct tg_error *error)
{
    if (says_account(error)) {
        error->class = TG_CLASS_ACCOUNT;
        error->flags |= TG_ERROR_CHANNEL | TG_ERROR_KEY;
        return;
    }
    switch (error->status) {
    case 400:
    case 413:
    case 422:
        error->flags |= TG_ERROR_NO_RETRY;
        break;
    case 404:
        error->flags |= TG_ERROR_NEXT_CHANNEL;
        break;
    default:
        break;
    }
}

void tg_classify_status(int status, struct tg_span body, const struct tg_retry_hints *hints,
                        int64_t now_unix_us, struct tg_error *ret)
{
    int64_t google_s;

    if (status < 400) /* a redirect is not followed, and its page is about somewhere else */
        body.len = 0;
    tg_error_body_read(status, body, ret);
    ret->status = status; /* a whole answer's own status stands */
    tg_classify_inside(ret);
    ret->retry_after_ms = tg_retry_after_ms(hints, now_unix_us);
    if (ret->retry_after_ms == 0 && tg_google_retry_delay(body, &google_s))
        ret->retry_after_ms = TG_MIN(TG_MAX(google_s, 0) * 1000, RETRY_AFTER_MOST_MS);
    if (hints->should_retry != NULL && strcasecmp(hints->should_retry, "false") == 0)
        ret->flags |= TG_ERROR_NEXT_CHANNEL;
}

/* --- when again ---------------------------------------------------------------------------- */

int64_t tg_retry_after_ms(const struct tg_retry_hints *hints, int64_t now_unix_us)
{
    int64_t wait_ms = 0;
    bool known = hints->retry_after_ms != NULL &&
                 tg_wait_number(hints->retry_after_ms, 1, &wait_ms);

    if (!known && hints->retry_after != NULL)
        known = tg_wait_number(hints->retry_after, 1000, &wait_ms) ||
                tg_wait_date(hints->retry_after, now_unix_us, &wait_ms);
    return known ? TG_MAX(TG_MIN(wait_ms, RETRY_AFTER_MOST_MS), 0) : 0;
}
