#include "common/key_room/key_room.h"

#include "common/key_room/scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 48, NUMBER = 21, PER_KEY = 5, KEYS = 2, HEAD = 2 };

/* The parts of one call and the text behind them. */
struct parts {
    struct tg_span spans[KEYS + HEAD + PER_KEY * TG_KEY_ROOM_MOST];
    size_t count;
    char names[KEYS][2 * NAME], tag[NAME];
    char numbers[HEAD + PER_KEY * TG_KEY_ROOM_MOST][NUMBER];
    size_t number_count;
};

static void add(struct parts *parts, const char *text)
{
    tg_assert(parts->count < TG_COUNT_OF(parts->spans));
    parts->spans[parts->count++] = (struct tg_span){text, strlen(text)};
}

static void add_number(struct parts *parts, int64_t value)
{
    char *text = parts->numbers[parts->number_count++];

    snprintf(text, NUMBER, "%" PRId64, value);
    add(parts, text);
}

static void begin(struct parts *parts, const struct tg_key_room_call *call)
{
    static const char *const names[KEYS] = {"caps", "flight"};

    parts->count = parts->number_count = 0;
    snprintf(parts->tag, NAME, "{c%" PRId64 "}", call->channel_id);
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(parts->names[i], sizeof parts->names[i], "tg:%s:%s", parts->tag, names[i]);
        add(parts, parts->names[i]);
    }
    add(parts, call->ticket);
}

static enum tg_class run(struct tg_kv *kv, const struct tg_kv_script *script,
                         const struct parts *parts, int64_t deadline_at_us,
                         const struct tg_kv_reply **ret)
{
    return tg_kv_run(kv, script,
                     &(struct tg_kv_call){.tag = parts->tag,
                                          .args = parts->spans,
                                          .count = parts->count,
                                          .deadline_at_us = deadline_at_us},
                     KEYS, ret);
}

enum tg_class tg_key_room_take(struct tg_kv *kv, const struct tg_key_room_call *call,
                               struct tg_key_wish *wishes, size_t count, size_t *ret_which)
{
    const struct tg_kv_reply *reply;
    struct parts parts;
    enum tg_class class;
    int64_t which = 0;

    tg_assert(count <= TG_KEY_ROOM_MOST);
    begin(&parts, call);
    add_number(&parts, TG_KEY_LEASE_MS);
    for (size_t i = 0; i < count; i++) {
        const int64_t numbers[PER_KEY] = {wishes[i].key_id, wishes[i].period_s, wishes[i].cap,
                                          wishes[i].used, wishes[i].amount};

        for (size_t k = 0; k < PER_KEY; k++)
            add_number(&parts, numbers[k]);
    }
    class = run(kv, &tg_script_key_take, &parts, call->deadline_at_us, &reply);
    if (class != TG_OK)
        return class;
    tg_assert(tg_kv_len(reply) == count + 1 && tg_kv_int(tg_kv_at(reply, 0), &which));
    for (size_t i = 0; i < count; i++)
        tg_assert(tg_kv_int(tg_kv_at(reply, i + 1), &wishes[i].ret_used));
    *ret_which = which == 0 ? count : (size_t)which - 1;
    return TG_OK;
}

enum tg_class tg_key_room_give(struct tg_kv *kv, const struct tg_key_room_call *call,
                               const struct tg_key_used *used, int64_t *ret_used)
{
    const struct tg_kv_reply *reply;
    struct parts parts;
    enum tg_class class;

    begin(&parts, call);
    add_number(&parts, used->key_id);
    add_number(&parts, used->period_s);
    add_number(&parts, used->reserved);
    add_number(&parts, used->used);
    class = run(kv, &tg_script_key_give, &parts, call->deadline_at_us, &reply);
    if (class == TG_OK)
        tg_assert(tg_kv_len(reply) == 1 && tg_kv_int(tg_kv_at(reply, 0), ret_used));
    return class;
}
