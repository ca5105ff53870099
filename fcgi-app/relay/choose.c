#include "fcgi-app/relay/relay.h"

#include "common/base/money.h"
#include "fcgi-app/estimate.h"

#include <string.h>

bool tg_relay_was_tried(const struct tg_relay *relay, int64_t channel_id)
{
    for (size_t i = 0; i < relay->tried_count; i++)
        if (relay->tried[i] == channel_id)
            return true;
    return false;
}

void tg_relay_mark_tried(struct tg_relay *relay, int64_t channel_id)
{
    if (tg_relay_was_tried(relay, channel_id))
        return;
    if (relay->tried_count == relay->tried_cap) {
        int64_t *old = relay->tried;

        relay->tried_cap = 2 * relay->tried_cap + 8;
        relay->tried = tg_arena_calloc(relay->req->arena, relay->tried_cap, sizeof *relay->tried);
        if (relay->tried_count > 0)
            memcpy(relay->tried, old, relay->tried_count * sizeof *old);
    }
    relay->tried[relay->tried_count++] = channel_id;
}

/* --- copies: the snapshot is given back before the call (AMENDMENTS N1) -------------------- */

struct tg_channel tg_relay_copy_channel(struct tg_arena *arena, const struct tg_channel *from)
{
    struct tg_channel copy = *from;

    copy.name = tg_arena_strdup(arena, from->name);
    copy.provider = tg_arena_strdup(arena, from->provider);
    copy.base_url = tg_arena_strdup(arena, from->base_url);
    copy.organisation = tg_arena_strdup(arena, from->organisation);
    copy.proxy = tg_arena_strdup(arena, from->proxy);
    copy.model_mapping = tg_arena_strdup(arena, from->model_mapping);
    copy.key = tg_arena_strdup(arena, from->key);
    copy.key_hint = tg_arena_strdup(arena, from->key_hint);
    return copy;
}

/* A channel may say that its own model's price counts instead of the alias's. */
static const struct tg_quote *quote_of(struct tg_relay *relay, const struct tg_snapshot *snapshot,
                                       const struct tg_channel *channel)
{
    const struct tg_provider_input input = {
        .arena = relay->req->arena, .channel = channel, .model = relay->quote->model};
    const struct tg_price *price;
    struct tg_quote *own;
    const char *upstream_model;
    struct tg_error err;

    if (!channel->bill_upstream ||
        tg_provider_map_model(&input, &upstream_model, &err) != TG_OK)
        return relay->quote;
    price = tg_snapshot_price(snapshot, upstream_model);
    if (price == NULL)
        return relay->quote;
    own = tg_arena_calloc(relay->req->arena, 1, sizeof *own);
    *own = *relay->quote;
    own->price = tg_price_copy(relay->req->arena, price);
    switch (tg_quote_deposit(relay->req, own, &err)) {
    case TG_OK:
        return own;
    case TG_CLASS_FUNDS: /* no balance is as large: the raise will say so */
        own->deposit_quota = TG_QUOTA_MAX;
        return own;
    default:
        return relay->quote;
    }
}

/* --- the choice ---------------------------------------------------------------------------- */

static struct tg_candidate candidate_of(const struct tg_relay *relay,
                                        const struct tg_ability *ability)
{
    const struct tg_provider *provider = tg_provider_find(ability->channel->provider);
    bool prefer = tg_conf_bool(relay->settings->conf, TG_OPTION_ROUTING_PREFER_NATIVE);
    bool native = provider != NULL && provider->protocol == relay->req->endpoint->protocol;

    return (struct tg_candidate){
        .channel_id = ability->channel->id,
        .priority = ability->priority,
        .weight = ability->weight,
        .tried = tg_relay_was_tried(relay, ability->channel->id),
        .native = !prefer || native,
        .excluded = provider == NULL || ability->channel->key[0] == '\0' ||
                    (relay->native_only && !native) ||
                    tg_route_find(relay->req->endpoint->protocol, provider->protocol) == NULL,
    };
}

static void count_left(const struct tg_candidate *candidates, size_t count, size_t chosen,
                       struct tg_choice *ret)
{
    ret->channels_left = ret->channels_all = 0;
    for (size_t i = 0; i < count; i++) {
        ret->channels_all += !candidates[i].excluded;
        ret->channels_left += !candidates[i].excluded && !candidates[i].tried && i != chosen;
    }
}

static bool choose_among(struct tg_relay *relay, const struct tg_ability *abilities, size_t count,
                         struct tg_choice *ret, const struct tg_channel **ret_channel)
{
    struct tg_candidate *candidates =
        tg_arena_calloc(relay->req->arena, count, sizeof *candidates);
    struct tg_select_wish wish = {.failed_channels = (int)relay->tried_count};
    struct tg_selection selection;

    for (size_t i = 0; i < count; i++)
        candidates[i] = candidate_of(relay, &abilities[i]);
    if (count > 1)
        tg_random(&wish.draw, sizeof wish.draw);
    if (!tg_select(candidates, count, &wish, &selection))
        return false;
    count_left(candidates, count, selection.index, ret);
    ret->tier = selection.tier;
    *ret_channel = abilities[selection.index].channel;
    return true;
}

static const struct tg_channel *pick(struct tg_relay *relay, const struct tg_snapshot *snapshot,
                                     struct tg_choice *ret)
{
    const struct tg_channel *channel = NULL;
    const struct tg_ability *abilities;
    size_t count;

    if (relay->req->pinned_channel_id != 0) {
        channel = tg_snapshot_channel(snapshot, relay->req->pinned_channel_id);
        ret->channels_all = 1;
        return channel != NULL && channel->key[0] != '\0' ? channel : NULL;
    }
    abilities =
        tg_snapshot_abilities(snapshot, relay->quote->group, relay->quote->model, &count);
    return choose_among(relay, abilities, count, ret, &channel) ? channel : NULL;
}

enum tg_class tg_relay_choose(struct tg_relay *relay, struct tg_choice *ret, struct tg_error *err)
{
    struct tg_snapshot_holder *holder = relay->req->worker->snapshots;
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(holder);
    const struct tg_channel *channel;
    enum tg_class class = TG_OK;

    memset(ret, 0, sizeof *ret);
    if (snapshot == NULL)
        return tg_fail(err, TG_CLASS_OVERLOAD, "routing_unavailable",
                       "The gateway has no routing data yet. Try again later.");
    channel = pick(relay, snapshot, ret);
    if (channel == NULL) {
        class = tg_relay_no_channel(err);
    } else {
        ret->channel = tg_relay_copy_channel(relay->req->arena, channel);
        ret->provider = tg_provider_find(channel->provider);
        ret->quote = quote_of(relay, snapshot, channel);
    }
    tg_snapshot_release(holder, snapshot);
    return class;
}

const char *tg_relay_client_header(const struct tg_request *req, const char *name)
{
    const char *value = tg_fcgi_header(req->fcgi, name);

    return value == NULL || value[0] == '\0' ? NULL : tg_arena_strdup(req->arena, value);
}
