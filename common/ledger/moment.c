#include "common/ledger/moment.h"

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/ledger/scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MOST = 20000, OWN_KEYS = 3, OWN_ARGS = 5 };

static struct tg_span text_span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static const char *key_name(enum tg_account_kind kind)
{
    switch (kind) {
    case TG_ACCOUNT_USER:
        return "user";
    case TG_ACCOUNT_TOKEN:
        return "token";
    default:
        return "sub";
    }
}

static bool word_is(const struct tg_kv_reply *reply, const char *word)
{
    struct tg_span text = tg_kv_string(tg_kv_at(reply, 0));

    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

static struct tg_moment_account *find(struct tg_moment *moment, struct tg_span name)
{
    char text[32];
    int64_t id;

    snprintf(text, sizeof text, "%.*s", (int)name.len, name.ptr);
    id = strtoll(text + 1, NULL, 10);
    for (size_t i = 0; i < moment->count; i++)
        if ((char)moment->accounts[i].kind == text[0] && moment->accounts[i].id == id)
            return &moment->accounts[i];
    return NULL;
}

/* Sums come as account, amount, account, amount, ... */
static void read_sums(struct tg_moment *moment, const struct tg_kv_reply *list, bool held)
{
    for (size_t i = 0; i + 1 < tg_kv_len(list); i += 2) {
        struct tg_moment_account *account = find(moment, tg_kv_string(tg_kv_at(list, i)));
        int64_t amount;

        if (account == NULL || !tg_kv_int(tg_kv_at(list, i + 1), &amount))
            continue;
        if (held)
            account->held = amount;
        else
            account->pending = amount;
    }
}

static void read_reply(struct tg_moment *moment, const struct tg_kv_reply *reply)
{
    const struct tg_kv_reply *balances = tg_kv_at(reply, 4);
    struct tg_span first = tg_kv_string(tg_kv_at(reply, 1));
    struct tg_span last = tg_kv_string(tg_kv_at(reply, 2));

    snprintf(moment->first, sizeof moment->first, "%.*s", (int)first.len, first.ptr);
    snprintf(moment->last, sizeof moment->last, "%.*s", (int)last.len, last.ptr);
    if (!tg_kv_int(tg_kv_at(reply, 3), &moment->waiting))
        moment->waiting = 0;
    for (size_t i = 0; i < moment->count && i < tg_kv_len(balances); i++) {
        struct tg_moment_account *account = &moment->accounts[i];

        account->held = account->pending = account->balance = 0;
        account->live = tg_kv_int(tg_kv_at(balances, i), &account->balance);
    }
    read_sums(moment, tg_kv_at(reply, 5), true);
    read_sums(moment, tg_kv_at(reply, 6), false);
}

/* Owns: the arena. */
static struct tg_span *make_args(const struct tg_shard_call *call, const struct tg_moment *moment,
                                 struct tg_arena *arena, size_t *ret_count)
{
    static const char *const own_keys[OWN_KEYS] = {"state", "holds", "journal"};
    int64_t left_ms = (call->deadline_at_us - tg_now_us()) / 1000;
    struct tg_span *args =
        tg_arena_calloc(arena, moment->count + OWN_KEYS + OWN_ARGS, sizeof *args);
    size_t n = 0;

    for (size_t i = 0; i < OWN_KEYS; i++)
        args[n++] =
            text_span(tg_arena_printf(arena, "tg:{s%02d}:%s", call->shard, own_keys[i]));
    for (size_t i = 0; i < moment->count; i++)
        args[n++] = text_span(tg_arena_printf(arena, "tg:{s%02d}:%s:%" PRId64, call->shard,
                                              key_name(moment->accounts[i].kind),
                                              moment->accounts[i].id));
    args[n++] = text_span(tg_arena_printf(arena, "%" PRId64, call->epoch));
    args[n++] = text_span(tg_kv_run_id(call->kv));
    args[n++] =
        text_span(tg_arena_printf(arena, "%" PRId64, tg_kv_server_ms(call->kv) + left_ms));
    args[n++] = text_span(moment->cursor);
    args[n++] = text_span(tg_arena_printf(arena, "%d", ENTRIES_MOST));
    *ret_count = n;
    return args;
}

static enum tg_shard_answer run(const struct tg_shard_call *call, struct tg_moment *moment)
{
    struct tg_arena *arena = tg_arena_new();
    const struct tg_kv_reply *reply;
    struct tg_kv_call script = {.deadline_at_us = call->deadline_at_us};
    enum tg_shard_answer answer = TG_SHARD_DOWN;
    char tag[8];

    snprintf(tag, sizeof tag, "{s%02d}", call->shard);
    script.tag = tag;
    script.args = make_args(call, moment, arena, &script.count);
    moment->behind = false;
    if (tg_kv_run(call->kv, &tg_script_audit, &script, moment->count + OWN_KEYS, &reply) !=
        TG_OK) {
        if (call->err != NULL)
            *call->err = *tg_kv_error(call->kv);
    } else if (word_is(reply, "ok")) {
        read_reply(moment, reply);
        answer = TG_SHARD_OK;
    } else if (word_is(reply, "behind")) {
        moment->behind = true;
        answer = TG_SHARD_OK;
    } else {
        answer = word_is(reply, "late") ? TG_SHARD_LATE : TG_SHARD_REBUILDING;
    }
    tg_arena_free(arena);
    return answer;
}

enum tg_shard_answer tg_moment_read(const struct tg_shard_call *call, struct tg_moment *moment)
{
    enum tg_shard_answer answer;

    tg_assert(moment->count <= TG_MOMENT_ACCOUNTS);
    answer = run(call, moment);
    if (answer != TG_SHARD_LATE)
        return answer;
    if (tg_kv_sync_clock(call->kv, call->deadline_at_us, call->err) != TG_OK)
        return TG_SHARD_DOWN;
    return run(call, moment);
}
