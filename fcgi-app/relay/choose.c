#include "fcgi-app/relay/relay.h"

#include "common/base/clock.h"
#include "common/base/money.h"
#include "fcgi-app/estimate.h"
#include "fcgi-app/shared.h"

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
    relay->failed++;
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
    copy.loss_policy = tg_arena_strdup(arena, from->loss_policy);
    copy.test_model = copy.balance_from = ""; /* no call needs them */
    copy.key = tg_arena_strdup(arena, from->key);
    copy.key_hint = tg_arena_strdup(arena, from->key_hint);
    copy.keys = NULL;
    copy.key_count = 0;
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

/* Everything that a choice is made from. */
struct choosing {
    struct tg_relay *relay;
    const struct tg_snapshot *snapshot;
    struct tg_candidate *candidates;
    const struct tg_ability *abilities;
    size_t count;
    int64_t now_us;
    int64_t rest_until_us; /* when the first breaker lets a call through; 0: none is open */
};

static struct tg_breakers *breakers_of(const struct tg_relay *relay)
{
    return tg_shared_breakers(relay->req->worker->shared);
}

/* Is the channel's breaker for the model open? Notes when it will not be. */
static bool is_resting(struct choosing *choosing, int64_t channel_id)
{
    struct tg_breakers *breakers = breakers_of(choosing->relay);
    int64_t until_us = 0;

    if (!tg_breakers_any(breakers) ||
        tg_conf_int(choosing->relay->settings->conf, TG_OPTION_BREAKER_FAILURES) == 0 ||
        tg_breaker_admits(
            tg_breaker_find(breakers, channel_id, choosing->relay->quote->model),
            choosing->now_us, &until_us))
        return false;
    if (choosing->rest_until_us == 0 || until_us < choosing->rest_until_us)
        choosing->rest_until_us = until_us;
    return true;
}

/* It has an open key, and its protocol can be made of the client's without losing too much. */
static bool is_usable(struct tg_relay *relay, const struct tg_channel *channel,
                      const struct tg_provider *provider)
{
    return provider != NULL && !channel->off &&
           tg_route_find(relay->req->endpoint->protocol, provider->protocol) != NULL &&
           tg_relay_has_key(relay, channel) && !tg_relay_loses(relay, channel, provider);
}

static struct tg_candidate candidate_of(struct tg_relay *relay,
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
        .excluded = !is_usable(relay, ability->channel, provider) ||
                    (relay->native_only && !native),
    };
}

/* Above it a thousandth of the cap is exact enough, and a thousand times the room might not fit. */
#define PART_MOST (INT64_MAX / 1000)

/* What is left of the key's cap: as it stands, or in thousandths of the cap, at least one. */
static int64_t room_in(const struct tg_key_candidate *key, bool as_it_stands)
{
    if (as_it_stands || key->cap <= 0)
        return key->room;
    return key->room >= PART_MOST ? key->room / (key->cap / 1000)
                                  : TG_MAX(key->room * 1000 / key->cap, INT64_C(1));
}

/* The open key with a cap that has the most room; false: the channel has none. */
static bool best_capped(const struct choosing *choosing, const struct tg_channel *channel,
                        struct tg_key_candidate *ret)
{
    int64_t at_s = tg_unix_us() / 1000000;
    bool found = false;

    for (size_t i = 0; i < channel->key_count; i++) {
        struct tg_key_candidate key =
            tg_relay_key_candidate(choosing->relay, &channel->keys[i], at_s);

        if (key.cap_unit == TG_CAP_NONE || key.room <= 0 || !tg_key_is_open(&key, at_s) ||
            (found && room_in(&key, key.cap_unit == ret->cap_unit) <=
                          room_in(ret, key.cap_unit == ret->cap_unit)))
            continue;
        *ret = key;
        found = true;
    }
    return found;
}

/* Free room of the keys of all channels, for a group that spends it first; in one measure, as
 * key_pick.h has it. */
static void find_room(struct choosing *choosing)
{
    struct tg_key_candidate *best =
        tg_arena_calloc(choosing->relay->req->arena, choosing->count, sizeof *best);
    enum tg_cap_unit unit = TG_CAP_NONE;
    bool one_unit = true;

    for (size_t i = 0; i < choosing->count; i++) {
        if (choosing->candidates[i].excluded ||
            !best_capped(choosing, choosing->abilities[i].channel, &best[i]))
            continue;
        one_unit = one_unit && (unit == TG_CAP_NONE || unit == best[i].cap_unit);
        unit = best[i].cap_unit;
    }
    for (size_t i = 0; i < choosing->count; i++)
        if (best[i].cap_unit != TG_CAP_NONE)
            choosing->candidates[i].room = room_in(&best[i], one_unit);
}

static void list_candidates(struct choosing *choosing, struct tg_choice *ret)
{
    struct tg_relay *relay = choosing->relay;

    choosing->abilities = tg_snapshot_abilities(choosing->snapshot, relay->quote->group,
                                                relay->quote->model, &choosing->count);
    choosing->candidates =
        tg_arena_calloc(relay->req->arena, choosing->count, sizeof *choosing->candidates);
    for (size_t i = 0; i < choosing->count; i++) {
        struct tg_candidate *candidate = &choosing->candidates[i];

        *candidate = candidate_of(relay, &choosing->abilities[i]);
        /* One whose last key has just failed is one of the channels that were called. */
        ret->channels_all += !candidate->excluded || candidate->tried;
        if (candidate->excluded)
            continue;
        candidate->excluded = is_resting(choosing, candidate->channel_id);
        ret->channels_resting += candidate->excluded;
    }
}

/* Of the groups behind this one, when a retry may go there. */
static size_t left_in_other_groups(const struct choosing *choosing)
{
    struct tg_relay *relay = choosing->relay;
    size_t left = 0, count;

    for (size_t g = 1; g <= relay->groups_left; g++) {
        const struct tg_ability *abilities = tg_snapshot_abilities(
            choosing->snapshot, relay->quote[g].group, relay->quote[g].model, &count);

        for (size_t i = 0; i < count; i++)
            left += is_usable(relay, abilities[i].channel,
                              tg_provider_find(abilities[i].channel->provider)) &&
                    !tg_relay_was_tried(relay, abilities[i].channel->id);
    }
    return left;
}

/* Channels that this request called in groups before this one. */
static size_t tried_elsewhere(const struct choosing *choosing)
{
    const struct tg_relay *relay = choosing->relay;
    size_t elsewhere = 0;

    for (size_t i = 0; i < relay->tried_count; i++) {
        bool here = false;

        for (size_t k = 0; k < choosing->count && !here; k++)
            here = choosing->candidates[k].channel_id == relay->tried[i];
        elsewhere += !here;
    }
    return elsewhere;
}

static void count_left(const struct choosing *choosing, size_t chosen, struct tg_choice *ret)
{
    bool crosses = choosing->relay->groups_left > 0 &&
                   choosing->relay->req->credential->cross_group_retry;
    size_t elsewhere = crosses ? left_in_other_groups(choosing) : 0;

    ret->channels_left = elsewhere;
    ret->channels_all += elsewhere + tried_elsewhere(choosing);
    for (size_t i = 0; i < choosing->count; i++)
        ret->channels_left +=
            !choosing->candidates[i].excluded && !choosing->candidates[i].tried && i != chosen;
}

/* The right to call; a probe may have been given to another request meanwhile. */
static bool take_pass(const struct choosing *choosing, int64_t channel_id, struct tg_choice *ret)
{
    const struct tg_relay *relay = choosing->relay;
    const struct tg_breaker_rules rules = tg_relay_breaker_rules(relay->settings->conf);
    const struct tg_breaker_call call = {channel_id, relay->quote->model, choosing->now_us};

    return tg_breaker_take(breakers_of(relay), &rules, &call, &ret->pass);
}

/* All tiers of a group are used before the next one, and nothing is repeated in it: with
 * cross_group_retry. */
static bool leaves_group(const struct tg_relay *relay, const struct tg_candidate *candidate)
{
    return candidate->tried && relay->groups_left > 0 && relay->req->credential->cross_group_retry;
}

static const struct tg_channel *pick(struct choosing *choosing, struct tg_choice *ret)
{
    struct tg_relay *relay = choosing->relay;
    struct tg_select_wish wish = {
        .failed_channels = relay->failed,
        .spend_free_first =
            tg_snapshot_spends_free_first(choosing->snapshot, relay->quote->group),
    };
    struct tg_selection selection;

    list_candidates(choosing, ret);
    if (wish.spend_free_first)
        find_room(choosing);
    if (choosing->count > 1)
        tg_random(&wish.draw, sizeof wish.draw);
    while (tg_select(choosing->candidates, choosing->count, &wish, &selection)) {
        struct tg_candidate *chosen = &choosing->candidates[selection.index];

        if (leaves_group(relay, chosen))
            return NULL;
        if (!take_pass(choosing, chosen->channel_id, ret)) {
            chosen->excluded = true;
            ret->channels_resting++;
            continue;
        }
        count_left(choosing, selection.index, ret);
        ret->tier = selection.tier;
        ret->repeated = chosen->tried;
        return choosing->abilities[selection.index].channel;
    }
    return NULL;
}

/* One channel whatever its breaker says, and its end is told to nobody. */
static const struct tg_channel *pick_pinned(const struct choosing *choosing, struct tg_choice *ret)
{
    const struct tg_channel *channel =
        tg_snapshot_channel(choosing->snapshot, choosing->relay->req->pinned_channel_id);

    ret->channels_all = 1;
    return channel != NULL && is_usable(choosing->relay, channel,
                                        tg_provider_find(channel->provider))
               ? channel
               : NULL;
}

/* The channel whose key has failed, for another key of it: it counts among the channels as
 * before. */
static const struct tg_channel *stay(const struct choosing *choosing, struct tg_choice *ret)
{
    struct tg_relay *relay = choosing->relay;
    const struct tg_channel *channel =
        relay->keys.stay_channel_id == 0
            ? NULL
            : tg_snapshot_channel(choosing->snapshot, relay->keys.stay_channel_id);

    if (channel == NULL || channel->off || !tg_relay_has_key(relay, channel) ||
        !take_pass(choosing, channel->id, ret)) {
        relay->keys.tries = 0;
        relay->keys.open_at_s = 0;
        return NULL;
    }
    relay->keys.stays++;
    ret->tier = relay->keys.stayed.tier;
    ret->channels_left = relay->keys.stayed.channels_left;
    ret->channels_all = relay->keys.stayed.channels_all;
    return channel;
}

static enum tg_class nothing_left(const struct choosing *choosing, struct tg_error *err)
{
    const struct tg_error *loss = &choosing->relay->loss_error;
    enum tg_class class = tg_relay_no_channel(err);

    if (loss->class != TG_OK && choosing->rest_until_us == 0) {
        *err = *loss;
        return loss->class;
    }
    if (choosing->rest_until_us == 0)
        return tg_relay_no_key(choosing->relay, err);
    err->retry_after_ms =
        TG_MAX((choosing->rest_until_us - choosing->now_us) / 1000, INT64_C(1000));
    return class;
}

enum tg_class tg_relay_choose(struct tg_relay *relay, struct tg_choice *ret, struct tg_error *err)
{
    struct tg_snapshot_holder *holder = relay->req->worker->snapshots;
    struct choosing choosing = {.relay = relay,
                                .snapshot = tg_snapshot_acquire(holder),
                                .now_us = tg_now_us()};
    const struct tg_channel *channel;
    enum tg_class class = TG_OK;

    memset(ret, 0, sizeof *ret);
    if (choosing.snapshot == NULL)
        return tg_fail(err, TG_CLASS_OVERLOAD, "routing_unavailable",
                       "The gateway has no routing data yet. Try again later.");
    channel = stay(&choosing, ret);
    if (channel == NULL)
        channel = relay->req->pinned_channel_id != 0 ? pick_pinned(&choosing, ret)
                                                     : pick(&choosing, ret);
    if (channel == NULL) {
        class = nothing_left(&choosing, err);
    } else {
        ret->channel = tg_relay_copy_channel(relay->req->arena, channel);
        ret->provider = tg_provider_find(channel->provider);
        ret->quote = quote_of(relay, choosing.snapshot, channel);
        tg_relay_list_keys(relay, channel, ret);
    }
    tg_snapshot_release(holder, choosing.snapshot);
    return class;
}

const char *tg_relay_client_header(const struct tg_request *req, const char *name)
{
    const char *value = tg_fcgi_header(req->fcgi, name);

    return value == NULL || value[0] == '\0' ? NULL : tg_arena_strdup(req->arena, value);
}
