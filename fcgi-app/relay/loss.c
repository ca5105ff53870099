/* The loss policy of token and channel: a channel on which too much of a request would be lost is
 * no candidate. What would be lost is known by converting, once for each channel and request. */
#include "fcgi-app/relay/relay.h"

struct tg_relay_loss {
    struct tg_relay_loss *next;
    int64_t channel_id;
    bool refused;
};

static enum tg_loss_policy parse(const char *text)
{
    enum tg_loss_policy policy = TG_LOSS_ALLOW;

    if (text != NULL && !tg_loss_policy_parse(text, &policy))
        policy = TG_LOSS_ALLOW;
    return policy;
}

enum tg_loss_policy tg_relay_loss_policy(const struct tg_request *req,
                                         const struct tg_channel *channel)
{
    return TG_MAX(parse(req->credential->loss_policy), parse(channel->loss_policy));
}

static bool is_refused(struct tg_relay *relay, const struct tg_channel *channel,
                       const struct tg_provider *provider)
{
    struct tg_request *req = relay->req;
    const struct tg_provider_input input = tg_relay_input(relay, channel);
    struct tg_provider_call call = {0};
    struct tg_error err;
    bool refused = provider->prepare(&input, &call, &err) == TG_CLASS_INVALID;

    if (refused) {
        relay->loss_error = err;
        if (req->diagnostics == NULL && call.convert != NULL)
            req->diagnostics = call.convert->diagnostics;
    }
    tg_provider_call_done(&call);
    return refused;
}

bool tg_relay_loses(struct tg_relay *relay, const struct tg_channel *channel,
                    const struct tg_provider *provider)
{
    struct tg_relay_loss *known;

    if (provider->protocol == relay->req->endpoint->protocol ||
        tg_relay_loss_policy(relay->req, channel) == TG_LOSS_ALLOW)
        return false;
    for (known = relay->losses; known != NULL; known = known->next)
        if (known->channel_id == channel->id)
            return known->refused;
    known = tg_arena_calloc(relay->req->arena, 1, sizeof *known);
    *known = (struct tg_relay_loss){relay->losses, channel->id,
                                    is_refused(relay, channel, provider)};
    relay->losses = known;
    return known->refused;
}
