#include "fcgi-app/relay/relay.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "fcgi-app/relay/effects.h"
#include "fcgi-app/relay/verdict.h"
#include "fcgi-app/shared.h"

struct tg_breaker_rules tg_relay_breaker_rules(const struct tg_conf *conf)
{
    return (struct tg_breaker_rules){
        .failures = tg_conf_int(conf, TG_OPTION_BREAKER_FAILURES),
        .ratio = tg_conf_int(conf, TG_OPTION_BREAKER_RATIO),
        .calls = tg_conf_int(conf, TG_OPTION_BREAKER_CALLS),
        .open_us = tg_conf_int(conf, TG_OPTION_BREAKER_OPEN),
        .open_most_us = tg_conf_int(conf, TG_OPTION_BREAKER_OPEN_CAP),
    };
}

/* What clients do wrong, and what is said about a key or by ourselves, is nothing about whether
 * the channel serves the model. A 429 counts when no other key could have taken the call. */
static enum tg_breaker_outcome outcome_of(const struct tg_relay *relay,
                                          const struct tg_choice *choice,
                                          const struct tg_error *error)
{
    if (error->class == TG_OK)
        return TG_BREAKER_SUCCESS;
    if (relay->client.gone || relay->client.cut)
        return TG_BREAKER_NEUTRAL;
    switch (error->class) {
    case TG_CLASS_TRANSPORT:
    case TG_CLASS_TIMEOUT:
        return TG_BREAKER_FAILURE;
    case TG_CLASS_UPSTREAM:
        return error->status >= 500 || (error->status == 429 && choice->other_keys == 0)
                   ? TG_BREAKER_FAILURE
                   : TG_BREAKER_NEUTRAL;
    default:
        return TG_BREAKER_NEUTRAL;
    }
}

/* A channel whose account is refused, and that has no other key, is disabled when it allows it;
 * this request goes on. */
static void disable(struct tg_relay *relay, const struct tg_choice *choice,
                    struct tg_attempt *attempt, const struct tg_error *error)
{
    const struct tg_verdict_facts facts = {
        .error = error,
        .body = relay->req->body,
        .statuses = &relay->settings->disable_statuses,
        .phrases = tg_conf_text(relay->settings->conf, TG_OPTION_AUTO_DISABLE_PHRASES),
    };
    struct tg_effects *effects = relay->req->worker->effects;
    char reason[TG_VERDICT_TEXT];

    if (effects == NULL || !choice->channel.auto_disable || choice->other_keys > 0 ||
        !tg_conf_bool(relay->settings->conf, TG_OPTION_AUTO_DISABLE_ON) ||
        !tg_verdict_disables(&facts, reason))
        return;
    attempt->effect = "channel_disable";
    (void)tg_effects_disable(effects, choice->channel.id, choice->channel.key_id, reason);
}

static void tell_breaker(struct tg_relay *relay, const struct tg_choice *choice,
                         struct tg_attempt *attempt, const struct tg_error *error)
{
    const struct tg_breaker_rules rules = tg_relay_breaker_rules(relay->settings->conf);
    enum tg_breaker_change change =
        tg_breaker_report(tg_shared_breakers(relay->req->worker->shared), &rules, &choice->pass,
                          outcome_of(relay, choice, error), tg_now_us());

    if (change == TG_BREAKER_SAME)
        return;
    attempt->effect = change == TG_BREAKER_OPENED ? "breaker_opened" : "breaker_closed";
    tg_log(change == TG_BREAKER_OPENED ? TG_LOG_WARNING : TG_LOG_INFO, "breaker",
           "channel %lld (%s), model %s: %s%s", (long long)choice->channel.id,
           choice->channel.name, relay->quote->model,
           change == TG_BREAKER_OPENED ? "rests after failures, the last of them "
                                       : "serves again",
           change == TG_BREAKER_OPENED ? error->code : "");
}

void tg_relay_judge(struct tg_relay *relay, const struct tg_choice *choice,
                    struct tg_attempt *attempt, const struct tg_error *error)
{
    tell_breaker(relay, choice, attempt, error);
    if (error->class != TG_OK)
        disable(relay, choice, attempt, error);
}
