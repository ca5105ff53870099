#include "common/ledger/shard.h"

#include "common/base/log.h"
#include "common/ledger/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MARKERS_KEPT_MS = 15 * 60 * 1000 };

/* ---- plain commands on one key of the shard */

struct command {
    char key[32];
    const char *name;      /* of the command, before the key */
    struct tg_span rest[4]; /* behind it */
    size_t rest_count;
    const char *middle; /* between name and key (XINFO STREAM), or NULL */
};

static struct tg_span text_span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static enum tg_class send_command(const struct tg_shard_call *call, struct command *command,
                                  const char *key, const struct tg_kv_reply **ret)
{
    struct tg_span args[8];
    char tag[8];
    size_t count = 0;

    snprintf(tag, sizeof tag, "{s%02d}", call->shard);
    snprintf(command->key, sizeof command->key, "tg:%s:%s", tag, key);
    args[count++] = text_span(command->name);
    if (command->middle != NULL)
        args[count++] = text_span(command->middle);
    args[count++] = text_span(command->key);
    for (size_t i = 0; i < command->rest_count; i++)
        args[count++] = command->rest[i];
    return tg_kv_command(call->kv,
                         &(struct tg_kv_call){.tag = tag,
                                              .args = args,
                                              .count = count,
                                              .deadline_at_us = call->deadline_at_us},
                         ret, call->err);
}

enum tg_shard_answer tg_shard_read_state(const struct tg_shard_call *call,
                                         struct tg_shard_state *ret)
{
    struct command command = {.name = "HMGET", .rest_count = 3};
    const struct tg_kv_reply *reply;
    struct tg_span run;

    command.rest[0] = text_span("epoch");
    command.rest[1] = text_span("run");
    command.rest[2] = text_span("on");
    if (send_command(call, &command, "state", &reply) != TG_OK)
        return TG_SHARD_DOWN;
    *ret = (struct tg_shard_state){0};
    ret->exists = tg_kv_int(tg_kv_at(reply, 0), &ret->epoch);
    run = tg_kv_string(tg_kv_at(reply, 1));
    snprintf(ret->run_id, sizeof ret->run_id, "%.*s", (int)run.len, run.ptr);
    ret->on = tg_kv_string(tg_kv_at(reply, 2)).ptr[0] == '1';
    return TG_SHARD_OK;
}

/* ---- journal */

struct fields {
    const struct tg_kv_reply *list;
    struct tg_arena *arena;
    const char *bad;
};

static bool find_field(const struct fields *in, char name, const struct tg_kv_reply **ret)
{
    for (size_t i = 0; i + 1 < tg_kv_len(in->list); i += 2) {
        struct tg_span key = tg_kv_string(tg_kv_at(in->list, i));

        if (key.len == 1 && key.ptr[0] == name) {
            *ret = tg_kv_at(in->list, i + 1);
            return true;
        }
    }
    return false;
}

/* An absent field is 0 unless <needed>. */
static int64_t int_field(struct fields *in, char name, bool needed)
{
    const struct tg_kv_reply *value;
    int64_t number = 0;

    if (!find_field(in, name, &value) ? needed : !tg_kv_int(value, &number))
        in->bad = tg_arena_printf(in->arena, "field '%c' is no integer", name);
    return number;
}

static void read_id_and_kind(struct fields *in, struct tg_entry *entry)
{
    const struct tg_kv_reply *value;
    struct tg_span text;

    if (!find_field(in, 'i', &value) || tg_kv_string(value).len != TG_ID_BYTES) {
        in->bad = "field 'i' is no id";
        return;
    }
    memcpy(entry->id.bytes, tg_kv_string(value).ptr, TG_ID_BYTES);
    text = find_field(in, 'k', &value) ? tg_kv_string(value) : (struct tg_span){"", 0};
    if (!tg_entry_kind_parse(tg_arena_strndup(in->arena, text.ptr, text.len), &entry->kind))
        in->bad = "field 'k' is no kind";
}

/* An entry from before periods were told takes out of the plan what it charges. */
static void read_plan(struct fields *in, struct tg_entry *entry)
{
    const struct tg_kv_reply *value;

    if (entry->funding.plan_id == 0)
        return;
    entry->funding.period = int_field(in, 'e', entry->kind == TG_ENTRY_RESET);
    entry->plan_quota = entry->amount_quota;
    if (find_field(in, 'm', &value))
        entry->plan_quota = int_field(in, 'm', true);
}

static void read_entry(struct fields *in, struct tg_entry *entry)
{
    const struct tg_kv_reply *record;
    bool adjust;

    *entry = (struct tg_entry){.token_unlimited = -1};
    read_id_and_kind(in, entry);
    adjust = entry->kind == TG_ENTRY_ADJUST;
    entry->user_id = int_field(in, 'u', true);
    entry->token_id = int_field(in, 't', true);
    entry->funding.plan_id = int_field(in, 'p', true);
    entry->amount_quota = int_field(in, 'a', true);
    entry->channel_id = int_field(in, 'c', true);
    read_plan(in, entry);
    entry->token_delta_quota = int_field(in, 'd', adjust);
    if (adjust)
        entry->token_unlimited = (int)int_field(in, 'n', true);
    entry->authver = int_field(in, 'v', adjust);
    if (find_field(in, 'r', &record) && tg_kv_string(record).len > 0) {
        entry->record = tg_kv_string(record);
        entry->record.ptr = tg_arena_strndup(in->arena, entry->record.ptr, entry->record.len);
    }
}

static void read_item(const struct tg_kv_reply *item, struct tg_arena *arena,
                      struct tg_journal_entry *ret)
{
    struct tg_span id = tg_kv_string(tg_kv_at(item, 0));
    struct fields in = {.list = tg_kv_at(item, 1), .arena = arena};

    snprintf(ret->stream_id, sizeof ret->stream_id, "%.*s", (int)id.len, id.ptr);
    read_entry(&in, &ret->entry);
    ret->bad = in.bad;
}

enum tg_class tg_shard_journal(const struct tg_shard_call *call, struct tg_arena *arena,
                               struct tg_journal_page *page)
{
    char after[TG_STREAM_ID_TEXT + 1], most[24];
    struct command command = {.name = "XRANGE", .rest_count = 4};
    const struct tg_kv_reply *reply;
    enum tg_class class;

    snprintf(after, sizeof after, "(%s", page->after);
    snprintf(most, sizeof most, "%zu", page->most);
    command.rest[0] = text_span(after);
    command.rest[1] = text_span("+");
    command.rest[2] = text_span("COUNT");
    command.rest[3] = text_span(most);
    class = send_command(call, &command, "journal", &reply);
    if (class != TG_OK)
        return class;
    page->count = tg_kv_len(reply);
    page->entries = tg_arena_calloc(arena, page->count + 1, sizeof *page->entries);
    for (size_t i = 0; i < page->count; i++)
        read_item(tg_kv_at(reply, i), arena, &page->entries[i]);
    return TG_OK;
}

enum tg_class tg_shard_journal_tail(const struct tg_shard_call *call,
                                    char ret_last[TG_STREAM_ID_TEXT], int64_t *ret_len)
{
    struct command command = {.name = "XINFO", .middle = "STREAM"};
    const struct tg_kv_reply *reply;
    enum tg_class class = send_command(call, &command, "journal", &reply);
    struct tg_span name, last;

    snprintf(ret_last, TG_STREAM_ID_TEXT, "0-0");
    *ret_len = 0;
    if (class == TG_CLASS_INTERNAL && strstr(tg_kv_error(call->kv)->message, "no such key"))
        return TG_OK; /* nothing was ever added */
    for (size_t i = 0; class == TG_OK && i + 1 < tg_kv_len(reply); i += 2) {
        name = tg_kv_string(tg_kv_at(reply, i));
        if (strcmp(name.ptr, "last-generated-id") == 0) {
            last = tg_kv_string(tg_kv_at(reply, i + 1));
            snprintf(ret_last, TG_STREAM_ID_TEXT, "%.*s", (int)last.len, last.ptr);
        } else if (strcmp(name.ptr, "length") == 0 &&
                   !tg_kv_int(tg_kv_at(reply, i + 1), ret_len)) {
            class = tg_fail(call->err, TG_CLASS_INTERNAL, "redis_error", "no length of a stream");
        }
    }
    return class;
}

/* ---- holds */

static bool parse_hold(struct tg_span text, struct tg_arena *arena, struct tg_hold *hold)
{
    int lapsed = 0;
    char *copy = tg_arena_strndup(arena, text.ptr, text.len);

    if (sscanf(copy,
               "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %63s %" SCNd64
               " %" SCNd64 " %*s %" SCNd64,
               &hold->user_id, &hold->token_id, &hold->plan_id, &hold->amount_quota,
               &hold->earned_quota, &lapsed, hold->node, &hold->worker, &hold->period,
               &hold->due_server_ms) != 10)
        return false;
    hold->lapsed = lapsed != 0;
    return true;
}

static size_t read_holds(const struct tg_kv_reply *reply, struct tg_arena *arena,
                         struct tg_hold *holds)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < tg_kv_len(reply); i += 2) {
        struct tg_span id = tg_kv_string(tg_kv_at(reply, i));

        if (id.len != TG_ID_BYTES ||
            !parse_hold(tg_kv_string(tg_kv_at(reply, i + 1)), arena, &holds[count])) {
            tg_log(TG_LOG_ERROR, "ledger", "a hold cannot be read and is left alone");
            continue;
        }
        memcpy(holds[count].request_id.bytes, id.ptr, TG_ID_BYTES);
        count++;
    }
    return count;
}

enum tg_class tg_shard_holds(const struct tg_shard_call *call, struct tg_arena *arena,
                             struct tg_hold **ret, size_t *ret_count)
{
    struct command command = {.name = "HGETALL"};
    const struct tg_kv_reply *reply;
    enum tg_class class = send_command(call, &command, "holds", &reply);

    if (class != TG_OK)
        return class;
    *ret = tg_arena_calloc(arena, tg_kv_len(reply) / 2 + 1, sizeof **ret);
    *ret_count = read_holds(reply, arena, *ret);
    return TG_OK;
}

/* ---- scripts */

static enum tg_shard_answer run_step(const struct tg_shard_call *call, struct tg_step *step)
{
    struct tg_outcome outcome;

    if (tg_step_run(step, call->kv, call->epoch, call->deadline_at_us, &outcome) != TG_OK) {
        if (call->err != NULL)
            *call->err = *tg_kv_error(call->kv);
        return TG_SHARD_DOWN;
    }
    switch (outcome.word) {
    case TG_WORD_OK:
        return TG_SHARD_OK;
    case TG_WORD_REBUILDING:
        return TG_SHARD_REBUILDING;
    case TG_WORD_FENCED:
        return TG_SHARD_FENCED;
    case TG_WORD_LATE:
        return TG_SHARD_LATE;
    case TG_WORD_ENDED:
        return TG_SHARD_ENDED;
    case TG_WORD_MISSING:
        return TG_SHARD_MISSING;
    default:
        (void)tg_fail(call->err, TG_CLASS_INTERNAL, "ledger_mismatch", "%s answered '%s'",
                      step->script->name, tg_step_word_name(outcome.word));
        return TG_SHARD_DOWN;
    }
}

enum tg_shard_answer tg_shard_trim(const struct tg_shard_call *call, const char *stream_id,
                                   int64_t keep_ms)
{
    struct tg_step step;

    tg_step_begin(&step, &tg_script_trim, call->shard);
    tg_step_key(&step, "state");
    tg_step_key(&step, "journal");
    tg_step_key(&step, "ended");
    tg_step_fence(&step);
    tg_step_span(&step, stream_id, strlen(stream_id));
    tg_step_int(&step, keep_ms);
    tg_step_int(&step, MARKERS_KEPT_MS);
    return run_step(call, &step);
}

enum tg_shard_answer tg_shard_lapse(const struct tg_shard_call *call, const struct tg_hold *hold)
{
    struct tg_step step;

    tg_step_begin(&step, &tg_script_lapse, call->shard);
    tg_step_key(&step, "state");
    tg_step_key_of(&step, "user", hold->user_id);
    tg_step_key_of(&step, "token", hold->token_id);
    tg_step_key(&step, "holds");
    if (hold->plan_id != 0)
        tg_step_key_of(&step, "sub", hold->plan_id);
    tg_step_fence(&step);
    tg_step_span(&step, hold->request_id.bytes, TG_ID_BYTES);
    tg_step_int(&step, hold->user_id);
    tg_step_int(&step, hold->token_id);
    tg_step_int(&step, hold->plan_id);
    return run_step(call, &step);
}

enum tg_shard_answer tg_shard_begin(const struct tg_shard_call *call)
{
    struct tg_step step;

    tg_step_begin(&step, &tg_script_begin, call->shard);
    tg_step_key(&step, "state");
    tg_step_fence(&step);
    return run_step(call, &step);
}

enum tg_shard_answer tg_shard_finish(const struct tg_shard_call *call, const struct tg_id *ended,
                                     size_t ended_count)
{
    struct tg_step step;

    tg_step_begin(&step, &tg_script_finish, call->shard);
    tg_step_key(&step, "state");
    tg_step_key(&step, "holds");
    tg_step_fence(&step);
    tg_step_span(&step, ended, ended_count * sizeof *ended);
    return run_step(call, &step);
}
