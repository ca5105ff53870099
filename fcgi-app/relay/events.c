#include "fcgi-app/relay/relay.h"

#include "common/base/log.h"

static const char *source_of(const struct tg_error *error)
{
    switch (error->class) {
    case TG_CLASS_TRANSPORT:
    case TG_CLASS_TIMEOUT:
        return (error->flags & TG_ERROR_CHANNEL) != 0 ? "channel" : "transport";
    case TG_CLASS_ACCOUNT:
    case TG_CLASS_UPSTREAM:
        return "upstream";
    case TG_CLASS_CONFIG:
        return "channel";
    default:
        return "local";
    }
}

static void append(struct tg_request *req, struct tg_attempt *attempt)
{
    struct tg_attempt **end = &req->attempts;

    while (*end != NULL)
        end = &(*end)->next;
    *end = attempt;
}

/* Why this channel, in a word. */
static const char *chosen_by(const struct tg_relay *relay, const struct tg_choice *choice)
{
    if (relay->req->pinned_channel_id != 0)
        return "pinned";
    if (choice->pass.probe != 0)
        return "probe";
    if (choice->repeated)
        return "repeat";
    return choice->channels_all == 1 ? "only" : "priority";
}

void tg_relay_record_none(struct tg_relay *relay, const struct tg_choice *choice)
{
    struct tg_attempt *event = tg_arena_calloc(relay->req->arena, 1, sizeof *event);

    event->number = relay->req->attempt_count;
    event->model = relay->quote->model;
    event->group = relay->quote->group;
    event->channels_all = choice->channels_all;
    event->channels_resting = choice->channels_resting;
    event->source = "local";
    event->action = relay->groups_left > 0 ? "next_group" : "stop";
    event->reason = "no_channel";
    append(relay->req, event);
}

struct tg_attempt *tg_relay_record(struct tg_relay *relay, const struct tg_choice *choice,
                                   const struct tg_error *error)
{
    struct tg_request *req = relay->req;
    struct tg_attempt *attempt = tg_arena_calloc(req->arena, 1, sizeof *attempt);

    attempt->tier = choice->tier;
    attempt->channel_id = choice->channel.id;
    attempt->channel_name = choice->channel.name;
    attempt->group = relay->quote->group;
    attempt->chosen = chosen_by(relay, choice);
    attempt->channels_all = choice->channels_all;
    attempt->channels_resting = choice->channels_resting;
    attempt->key_id = choice->channel.key_id;
    attempt->key_hint = choice->channel.key_hint;
    attempt->model = relay->quote->model;
    attempt->action = "success";
    attempt->reason = "request_completed";
    if (error->class != TG_OK) {
        attempt->error_code = tg_arena_strdup(req->arena, error->code);
        attempt->source = source_of(error);
        attempt->maybe_accepted = (error->flags & TG_ERROR_MAYBE_ACCEPTED) != 0;
    }
    append(req, attempt);
    attempt->number = ++req->attempt_count;
    return attempt;
}

void tg_relay_record_decision(struct tg_request *req, struct tg_attempt *attempt,
                              const struct tg_retry_decision *decision)
{
    attempt->action = decision->action == TG_RETRY_AGAIN ? "retry" : "stop";
    attempt->reason = decision->reason;
    tg_log(TG_LOG_INFO, "relay", "request %s, attempt %d, channel %lld, status %d: %s; %s (%s)",
           req->id_text, attempt->number, (long long)attempt->channel_id, attempt->status,
           attempt->error_code, attempt->action, attempt->reason);
}
