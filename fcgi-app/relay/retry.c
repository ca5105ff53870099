#include "fcgi-app/relay/retry.h"

static struct tg_retry_decision stop(const char *reason)
{
    return (struct tg_retry_decision){TG_RETRY_STOP, reason};
}

static struct tg_retry_decision again(const char *reason)
{
    return (struct tg_retry_decision){TG_RETRY_AGAIN, reason};
}

static bool past_deadline(const struct tg_retry_facts *facts)
{
    return facts->deadline_at_us != 0 &&
           facts->now_us + facts->delay_us >= facts->deadline_at_us;
}

/* Row 5: the next channel even with no budget left, but never more attempts than channels. */
static struct tg_retry_decision channel_error(const struct tg_retry_facts *facts)
{
    bool more = facts->channels_left > 0 && (size_t)facts->attempts_made < facts->channels_all;

    return more && !past_deadline(facts) ? again("channel_error") : stop("channel_error");
}

static bool is_excluded(const struct tg_error *error)
{
    return (error->flags & TG_ERROR_PARTLY_USED) != 0 || error->status == 504 ||
           error->status == 524;
}

static bool is_transport(const struct tg_error *error)
{
    return error->class == TG_CLASS_TRANSPORT || error->class == TG_CLASS_TIMEOUT ||
           error->status < 100 || error->status > 599;
}

/* Rows 8 to 11. */
static struct tg_retry_decision by_outcome(const struct tg_retry_facts *facts)
{
    const struct tg_error *error = facts->error;

    if (is_excluded(error))
        return stop("excluded");
    if (is_transport(error))
        return again("transport");
    if (!tg_status_ranges_has(facts->statuses, error->status))
        return stop("status_not_retryable");
    /* Another channel may know the model; this one has said that it does not. */
    if ((error->flags & TG_ERROR_NEXT_CHANNEL) != 0 && facts->channels_left == 0)
        return stop("status_not_retryable");
    return again("status");
}

struct tg_retry_decision tg_retry_decide(const struct tg_retry_facts *facts)
{
    if (facts->content_sent)
        return stop("committed");
    if (facts->client_gone)
        return stop("client_gone");
    if (facts->strict_session)
        return stop("strict_session");
    if (facts->pinned)
        return stop("pinned");
    if ((facts->error->flags & TG_ERROR_CHANNEL) != 0)
        return channel_error(facts);
    if ((facts->error->flags & TG_ERROR_NO_RETRY) != 0)
        return stop("not_retryable");
    if (facts->attempts_made >= facts->attempts_most || past_deadline(facts) ||
        (facts->repeats_spent && facts->channels_left == 0))
        return stop("budget");
    return by_outcome(facts);
}
