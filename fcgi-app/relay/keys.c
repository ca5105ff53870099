#include "fcgi-app/relay/keys.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/zone.h"
#include "common/store/key_state.h"
#include "fcgi-app/relay/key_verdict.h"
#include "fcgi-app/relay/relay.h"
#include "fcgi-app/shared.h"

#include <stdio.h>
#include <string.h>

enum { ROOM_WAIT_US = 1000000, PROBE_S = 60 };

static struct tg_key_board *board_of(const struct tg_relay *relay)
{
    return tg_shared_keys(relay->req->worker->shared);
}

static int64_t now_s(void)
{
    return tg_unix_us() / 1000000;
}

static bool is_out(const struct tg_relay *relay, int64_t key_id)
{
    for (size_t i = 0; i < relay->keys.out_count; i++)
        if (relay->keys.out[i] == key_id)
            return true;
    return false;
}

static void put_out(struct tg_relay *relay, int64_t key_id)
{
    struct tg_key_memory *keys = &relay->keys;

    if (keys->out_count == keys->out_cap) {
        int64_t *old = keys->out;

        keys->out_cap = 2 * keys->out_cap + 8;
        keys->out = tg_arena_calloc(relay->req->arena, keys->out_cap, sizeof *keys->out);
        if (keys->out_count > 0)
            memcpy(keys->out, old, keys->out_count * sizeof *old);
    }
    keys->out[keys->out_count++] = key_id;
}

/* --- what is open -------------------------------------------------------------------------- */

/* With what is reserved. */
static int64_t used_of(const struct tg_relay *relay, const struct tg_channel_key *key,
                       int64_t period_s)
{
    int64_t stored = key->used_since_s == period_s ? key->used : 0;

    return TG_MAX(stored, tg_key_board_used(board_of(relay), key->id, period_s));
}

struct tg_key_candidate tg_relay_key_candidate(const struct tg_relay *relay,
                                               const struct tg_channel_key *key, int64_t at_s)
{
    struct tg_key_seen seen = tg_key_board_look(board_of(relay), key->id, &key->row);
    struct tg_key_candidate candidate = {
        .state = seen.state,
        .until_s = seen.until_s,
        .cap_unit = key->cap_unit,
        .cap = key->cap,
        .tried = is_out(relay, key->id),
    };

    if (key->cap_unit != TG_CAP_NONE) {
        int64_t period_s = tg_zone_day_begin_s(key->zone, at_s, key->reset_hour);

        candidate.reset_s = tg_zone_day_end_s(key->zone, at_s, key->reset_hour);
        candidate.room = key->cap - used_of(relay, key, period_s);
    }
    return candidate;
}

static void note_open_at(struct tg_relay *relay, const struct tg_key_choice *choice)
{
    int64_t at_s = tg_keys_open_at_s(choice);

    if (at_s != 0 && (relay->keys.open_at_s == 0 || at_s < relay->keys.open_at_s))
        relay->keys.open_at_s = at_s;
}

bool tg_relay_has_key(struct tg_relay *relay, const struct tg_channel *channel)
{
    int64_t at_s = now_s();

    for (size_t i = 0; i < channel->key_count; i++) {
        const struct tg_key_candidate candidate =
            tg_relay_key_candidate(relay, &channel->keys[i], at_s);

        if (tg_key_is_open(&candidate, at_s))
            return true;
    }
    for (size_t i = 0; i < channel->key_count; i++) {
        const struct tg_key_candidate candidate =
            tg_relay_key_candidate(relay, &channel->keys[i], at_s);

        note_open_at(relay,
                     &(struct tg_key_choice){.keys = &candidate, .count = 1, .now_s = at_s});
    }
    return false;
}

enum tg_class tg_relay_no_key(const struct tg_relay *relay, struct tg_error *err)
{
    int64_t at_s = relay->keys.open_at_s, full_s = relay->keys.full_until_s;
    int64_t wait_s;

    if (at_s == 0 || (full_s != 0 && full_s < at_s))
        at_s = full_s;
    if (at_s == 0)
        return err->class;
    wait_s = at_s - now_s();
    (void)tg_fail(err, TG_CLASS_EXHAUSTED, "channels_exhausted",
                  "Every upstream key for this model is resting or at its limit.");
    err->retry_after_ms = TG_MAX(wait_s, 1) * 1000;
    return err->class;
}

static uint32_t turn_of(struct tg_relay *relay, const struct tg_channel *channel)
{
    uint32_t draw = 0;

    if (channel->key_mode == TG_KEYS_POLLING)
        return tg_key_board_turn(board_of(relay), channel->id);
    if (channel->key_mode == TG_KEYS_RANDOM)
        tg_random(&draw, sizeof draw);
    return draw;
}

static struct tg_key_option option_of(const struct tg_relay *relay,
                                      const struct tg_channel_key *key, int64_t at_s)
{
    struct tg_arena *arena = relay->req->arena;
    int64_t period_s = tg_zone_day_begin_s(key->zone, at_s, key->reset_hour);

    return (struct tg_key_option){
        .id = key->id,
        .key = tg_arena_strdup(arena, key->key),
        .hint = tg_arena_strdup(arena, key->hint),
        .row = key->row,
        .seen = tg_key_board_look(board_of(relay), key->id, &key->row),
        .cap_unit = key->cap_unit,
        .cap = key->cap,
        .used = key->cap_unit == TG_CAP_NONE ? 0 : used_of(relay, key, period_s),
        .period_s = period_s,
        .reset_s = tg_zone_day_end_s(key->zone, at_s, key->reset_hour),
    };
}

void tg_relay_list_keys(struct tg_relay *relay, const struct tg_channel *channel,
                        struct tg_choice *choice)
{
    struct tg_arena *arena = relay->req->arena;
    struct tg_key_candidate *candidates =
        tg_arena_calloc(arena, channel->key_count, sizeof *candidates);
    struct tg_key_choice pick = {.keys = candidates,
                                 .count = channel->key_count,
                                 .mode = channel->key_mode,
                                 .now_s = now_s(),
                                 .turn = turn_of(relay, channel)};
    struct tg_key_list *list = tg_arena_calloc(arena, 1, sizeof *list);
    size_t order[TG_KEY_CHOICES], open = 0;

    for (size_t i = 0; i < channel->key_count; i++) {
        candidates[i] = tg_relay_key_candidate(relay, &channel->keys[i], pick.now_s);
        open += tg_key_is_open(&candidates[i], pick.now_s);
    }
    list->count = tg_key_pick(&pick, order);
    for (size_t i = 0; i < list->count; i++)
        list->options[i] = option_of(relay, &channel->keys[order[i]], pick.now_s);
    choice->keys = list;
    choice->other_keys = open > 0 ? open - 1 : 0;
}

/* --- taking one ---------------------------------------------------------------------------- */

/* What the call will take of the cap at most, as far as anybody can know. */
static int64_t amount_of(const struct tg_relay *relay, const struct tg_choice *choice,
                         enum tg_cap_unit unit)
{
    const struct tg_request *req = relay->req;
    int64_t output = req->max_output_tokens;

    switch (unit) {
    case TG_CAP_TOKENS:
        if (output == 0)
            output = tg_conf_int(relay->settings->conf, TG_OPTION_DEPOSIT_OUTPUT);
        return req->input_estimate + output;
    case TG_CAP_USD:
        return choice->quote->deposit_quota;
    default:
        return 1;
    }
}

static void use(struct tg_choice *choice, size_t i)
{
    struct tg_key_option *option = &choice->keys->options[i];

    choice->keys->used = option;
    choice->channel.key = option->key;
    choice->channel.key_id = option->id;
    choice->channel.key_hint = option->hint;
}

/* Redis is away: the rows decide, one by one. */
static bool take_in_row(struct tg_relay *relay, struct tg_choice *choice, size_t i)
{
    struct tg_key_option *option = &choice->keys->options[i];
    int64_t amount = amount_of(relay, choice, option->cap_unit);
    const struct tg_key_use wish = {option->id, option->period_s, amount};
    struct tg_db *db = NULL;
    struct tg_error err;
    bool taken = false;

    if (tg_db_acquire(relay->req->worker->main_db, tg_now_us() + ROOM_WAIT_US, &db, NULL) != TG_OK)
        return false;
    if (tg_store_key_take(db, &wish, &taken, &err) != TG_OK)
        taken = false;
    tg_db_release(db);
    if (!taken)
        return false;
    choice->keys->place = TG_KEY_IN_ROW;
    choice->keys->reserved = amount;
    use(choice, i);
    return true;
}

/* Without an answer nobody knows whether anything was reserved. */
static void take_back(struct tg_relay *relay, const struct tg_choice *choice, size_t from,
                      size_t count)
{
    const struct tg_key_list *list = choice->keys;
    struct tg_key_job job = {
        .kind = TG_KEY_JOB_GIVE, .channel_id = choice->channel.id, .place = TG_KEY_IN_REDIS};

    memcpy(job.ticket, list->ticket, sizeof job.ticket);
    for (size_t i = from; i < from + count; i++) {
        job.key_id = list->options[i].id;
        job.period_s = list->options[i].period_s;
        job.reserved = amount_of(relay, choice, list->options[i].cap_unit);
        tg_key_keeper_put(relay->req->worker->keys, &job);
    }
}

static bool take_in_redis(struct tg_relay *relay, struct tg_choice *choice, size_t from,
                          size_t count, bool *ret_answered)
{
    struct tg_key_list *list = choice->keys;
    const struct tg_key_room_call call = {.channel_id = choice->channel.id,
                                          .ticket = list->ticket,
                                          .deadline_at_us = tg_now_us() + ROOM_WAIT_US};
    struct tg_key_wish wishes[TG_KEY_ROOM_MOST];
    struct tg_kv *kv = NULL;
    size_t which = count;

    for (size_t i = 0; i < count; i++) {
        const struct tg_key_option *option = &list->options[from + i];

        wishes[i] = (struct tg_key_wish){.key_id = option->id,
                                         .period_s = option->period_s,
                                         .cap = option->cap,
                                         .used = option->used,
                                         .amount = amount_of(relay, choice, option->cap_unit)};
    }
    *ret_answered =
        tg_kv_acquire(relay->req->worker->kv, call.deadline_at_us, &kv, NULL) == TG_OK &&
        tg_key_room_take(kv, &call, wishes, count, &which) == TG_OK;
    tg_kv_release(kv);
    if (!*ret_answered) {
        take_back(relay, choice, from, count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        tg_key_board_set_used(board_of(relay), wishes[i].key_id, wishes[i].period_s,
                              wishes[i].ret_used);
    if (which == count)
        return false;
    list->place = TG_KEY_IN_REDIS;
    list->reserved = wishes[which].amount;
    use(choice, from + which);
    return true;
}

static bool take_capped(struct tg_relay *relay, struct tg_choice *choice, size_t from,
                        size_t count)
{
    bool answered = false;

    if (take_in_redis(relay, choice, from, count, &answered))
        return true;
    for (size_t i = 0; i < count && !answered; i++)
        if (take_in_row(relay, choice, from + i))
            return true;
    for (size_t i = from; i < from + count; i++) {
        int64_t reset_s = choice->keys->options[i].reset_s;

        if (relay->keys.full_until_s == 0 || reset_s < relay->keys.full_until_s)
            relay->keys.full_until_s = reset_s;
    }
    return false;
}

/* Of an exhausted key whose time is over one request finds out whether it works again. */
static bool may_try(struct tg_relay *relay, struct tg_key_option *option)
{
    if (option->seen.state != TG_KEY_EXHAUSTED)
        return true;
    if (!tg_key_board_claim(board_of(relay), option->id, &option->seen, now_s() + PROBE_S))
        return false;
    option->seen.event++;
    return true;
}

/* How many capped keys stand side by side from <from> on. */
static size_t run_of(const struct tg_key_list *list, size_t from)
{
    size_t count = 0;

    while (from + count < list->count &&
           list->options[from + count].cap_unit != TG_CAP_NONE &&
           (count == 0 || list->options[from + count].seen.state != TG_KEY_EXHAUSTED))
        count++;
    return count;
}

bool tg_relay_take_key(struct tg_relay *relay, struct tg_choice *choice)
{
    struct tg_key_list *list = choice->keys;

    snprintf(list->ticket, sizeof list->ticket, "%s:%d", relay->req->id_text,
             relay->req->attempt_count);
    for (size_t i = 0, count; i < list->count; i += count) {
        count = TG_MAX(run_of(list, i), (size_t)1);
        if (may_try(relay, &list->options[i])) {
            if (list->options[i].cap_unit == TG_CAP_NONE) {
                use(choice, i);
                return true;
            }
            if (take_capped(relay, choice, i, count))
                return true;
        }
        for (size_t k = i; k < i + count; k++)
            put_out(relay, list->options[k].id);
    }
    return false;
}

/* --- after the call ------------------------------------------------------------------------ */

static bool was_accepted(const struct tg_transfer *transfer)
{
    switch (transfer->http.status) {
    case 0:
        return (transfer->error.flags & TG_ERROR_MAYBE_ACCEPTED) != 0;
    case 401:
    case 402:
    case 403:
    case 429:
        return false;
    default:
        return true;
    }
}

/* What it took in truth. */
static int64_t used_by(const struct tg_choice *choice, const struct tg_transfer *transfer)
{
    struct tg_usage usage = transfer->usage;
    int64_t cost = 0;

    if (transfer->has_usage)
        tg_usage_clamp(&usage);
    else
        usage = (struct tg_usage){
            .input = transfer->arrived ? transfer->req->input_estimate : 0,
            .output = transfer->counted_output,
        };
    switch (choice->keys->used->cap_unit) {
    case TG_CAP_TOKENS:
        return tg_usage_input_total(&usage) + usage.output;
    case TG_CAP_USD:
        if (tg_bill(&choice->quote->price, &usage, "1", NULL, &cost) != TG_OK)
            cost = choice->keys->reserved;
        return cost;
    default:
        return was_accepted(transfer);
    }
}

static void settle(struct tg_relay *relay, const struct tg_choice *choice,
                   const struct tg_transfer *transfer)
{
    const struct tg_key_list *list = choice->keys;
    struct tg_key_job job = {
        .kind = list->place == TG_KEY_NOWHERE ? TG_KEY_JOB_USE : TG_KEY_JOB_GIVE,
        .channel_id = choice->channel.id,
        .key_id = list->used->id,
        .place = list->place,
        .period_s = list->used->period_s,
        .reserved = list->reserved,
        .used = transfer == NULL ? 0 : used_by(choice, transfer),
    };

    memcpy(job.ticket, list->ticket, sizeof job.ticket);
    if (job.kind == TG_KEY_JOB_GIVE || job.used != 0)
        tg_key_keeper_put(relay->req->worker->keys, &job);
}

/* The next midnight in California, where Gemini's days begin; 0: unknown. */
static int64_t pacific_s(const struct tg_relay *relay, int64_t at_s)
{
    struct tg_snapshot_holder *holder = relay->req->worker->snapshots;
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(holder);
    const struct tg_zone *zone = snapshot == NULL ? NULL : tg_snapshot_pacific(snapshot);
    int64_t end_s = zone == NULL ? 0 : tg_zone_day_end_s(zone, at_s, 0);

    tg_snapshot_release(holder, snapshot);
    return end_s;
}

static struct tg_key_verdict verdict_of(const struct tg_relay *relay,
                                        const struct tg_key_option *option,
                                        const struct tg_transfer *transfer)
{
    const struct tg_key_evidence evidence = {
        .error = &transfer->error,
        .signs = transfer->signs,
        .body = {tg_buf_text(&transfer->body), transfer->body.len},
        .now_unix_us = tg_unix_us(),
        .reset_s = option->reset_s,
        .pacific_s = transfer->error.status == 429 ? pacific_s(relay, now_s()) : 0,
        .rested = option->seen.state == TG_KEY_RESTING,
    };

    return tg_key_judge(&evidence);
}

static void mark(struct tg_relay *relay, const struct tg_choice *choice,
                 const struct tg_key_verdict *verdict)
{
    const struct tg_key_option *option = choice->keys->used;
    struct tg_key_seen seen = {.state = verdict->state, .until_s = verdict->until_s};
    const struct tg_key_job job = {.kind = TG_KEY_JOB_MARK,
                                   .channel_id = choice->channel.id,
                                   .key_id = option->id,
                                   .judged_event = option->seen.event,
                                   .state = verdict->state,
                                   .until_s = verdict->until_s,
                                   .reason = verdict->reason};

    if (!tg_key_board_judge(board_of(relay), option->id, &option->row, option->seen.event, &seen))
        return;
    tg_log(TG_LOG_INFO, "keys", "channel %lld, key %lld is %s (%s)",
           (long long)choice->channel.id, (long long)option->id,
           tg_key_state_name(verdict->state), verdict->reason);
    tg_key_keeper_put(relay->req->worker->keys, &job);
}

void tg_relay_judge_key(struct tg_relay *relay, const struct tg_choice *choice,
                        const struct tg_transfer *transfer)
{
    const struct tg_key_option *option = choice->keys->used;
    const int64_t tries_most = tg_conf_int(relay->settings->conf, TG_OPTION_RETRY_KEY_TRIES);
    struct tg_key_verdict verdict = {TG_KEY_ACTIVE, 0, ""};
    bool works;

    relay->keys.stay_channel_id = 0;
    relay->keys.key_is_out = false;
    settle(relay, choice, transfer);
    if (transfer == NULL || tries_most == 0)
        return;
    works = transfer->error.class == TG_OK || transfer->arrived;
    if (!works)
        verdict = verdict_of(relay, option, transfer);
    if (verdict.state != TG_KEY_ACTIVE || (works && option->seen.state != TG_KEY_ACTIVE))
        mark(relay, choice, &verdict);
    relay->keys.tries++;
    if (verdict.state == TG_KEY_ACTIVE)
        return;
    put_out(relay, option->id);
    relay->keys.key_is_out = true;
    if (choice->other_keys > 0 && relay->keys.tries < tries_most) {
        relay->keys.stay_channel_id = choice->channel.id;
        relay->keys.stayed.tier = choice->tier;
        relay->keys.stayed.channels_left = choice->channels_left;
        relay->keys.stayed.channels_all = choice->channels_all;
    }
}
