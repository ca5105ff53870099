/* ledger rebuild, ledger accept, node list, node forget. */
#include "admin-cgi/ctl/commands.h"

#include "common/base/clock.h"
#include "common/ledger/rebuild.h"
#include "common/store/doubt.h"
#include "common/store/node.h"

#include <stdlib.h>

static const int64_t redis_wait_us = 2000000, answer_us = 10000000;

static enum tg_class rebuild(struct ctl *ctl, struct tg_kv *kv, int shard, bool *ret_busy)
{
    struct tg_rebuild work = {
        .apply = {.kv = kv,
                  .db = ctl->main_db,
                  .shard = shard,
                  .batch_count = (size_t)tg_conf_int(ctl->conf, TG_OPTION_LEDGER_BATCH),
                  .answer_us = answer_us,
                  .err = &ctl->err},
        .node = "tollgatectl",
        .by_hand = true};
    enum tg_rebuild_answer answer = tg_rebuild_shard(&work);

    *ret_busy = answer == TG_REBUILD_BUSY;
    return answer == TG_REBUILD_FAILED ? ctl->err.class : TG_OK;
}

static enum tg_class which_shards(struct ctl *ctl, const struct ctl_args *args, int *ret_first,
                                  int *ret_last)
{
    int64_t shard = 0;

    *ret_first = 0;
    *ret_last = TG_SHARDS - 1;
    if (ctl_option(args, "--shard") == NULL)
        return TG_OK;
    if (ctl_option_int(args, "--shard", &shard, &ctl->err) != TG_OK || shard < 0 ||
        shard >= TG_SHARDS)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "invalid_shard", "shards are 0 to %d",
                       TG_SHARDS - 1);
    *ret_first = *ret_last = (int)shard;
    return TG_OK;
}

static enum tg_class rebuild_all(struct ctl *ctl, struct tg_kv *kv, const int shards[2])
{
    int64_t done = 0;
    enum tg_class class = TG_OK;

    tg_json_begin_object(&ctl->out);
    tg_json_key(&ctl->out, "busy_shards"); /* somebody else is rebuilding them at this moment */
    tg_json_begin_array(&ctl->out);
    for (int i = shards[0]; class == TG_OK && i <= shards[1]; i++) {
        bool busy = false;

        class = rebuild(ctl, kv, i, &busy);
        if (busy)
            tg_json_write_int(&ctl->out, i);
        else
            done += class == TG_OK;
    }
    tg_json_end_array(&ctl->out);
    tg_json_put_int(&ctl->out, "rebuilt", done);
    tg_json_end_object(&ctl->out);
    return class;
}

enum tg_class ctl_cmd_ledger_rebuild(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_kv *kv = NULL;
    int shards[2];
    enum tg_class class = which_shards(ctl, args, &shards[0], &shards[1]);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = ctl_open_redis(ctl);
    if (class == TG_OK)
        class = tg_kv_acquire(ctl->kv, tg_now_us() + redis_wait_us, &kv, &ctl->err);
    if (class == TG_OK)
        class = rebuild_all(ctl, kv, shards);
    tg_kv_release(kv);
    return class;
}

enum tg_class ctl_cmd_ledger_accept(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t id = strtoll(args->positionals[0], NULL, 10);
    bool was_there = false;
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_doubt_accept(ctl->main_db, id, &was_there, &ctl->err);
    if (class == TG_OK && !was_there)
        class = tg_fail(&ctl->err, TG_CLASS_NOT_FOUND, "doubt_not_found",
                        "there is no doubt %s that waits", args->positionals[0]);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "accepted", id);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

enum tg_class ctl_cmd_node_list(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_node *nodes;
    size_t count = 0;
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    if (class == TG_OK)
        class = tg_node_list(ctl->main_db, ctl->arena, &nodes, &count, &ctl->err);
    if (class != TG_OK)
        return class;
    ctl->columns = "name state seen_at spool_clear_at offline_holds offline_entries";
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < count; i++) {
        tg_json_begin_object(&ctl->out);
        tg_json_put_str(&ctl->out, "name", nodes[i].name);
        tg_json_put_str(&ctl->out, "state", nodes[i].state);
        tg_json_put_str(&ctl->out, "seen_at", nodes[i].seen_at);
        tg_json_put_str(&ctl->out, "spool_clear_at", nodes[i].spool_clear_at);
        tg_json_put_int(&ctl->out, "offline_holds", nodes[i].offline_holds);
        tg_json_put_int(&ctl->out, "offline_entries", nodes[i].offline_entries);
        tg_json_end_object(&ctl->out);
    }
    tg_json_end_array(&ctl->out);
    return TG_OK;
}

enum tg_class ctl_cmd_node_forget(struct ctl *ctl, const struct ctl_args *args)
{
    const char *name = args->positionals[0];
    bool was_there = false;
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_node_forget(ctl->main_db, name, &was_there, &ctl->err);
    if (class == TG_OK && !was_there)
        class = tg_fail(&ctl->err, TG_CLASS_NOT_FOUND, "node_not_found",
                        "there is no node %s, or it is forgotten already", name);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "node", name);
    tg_json_put_str(&ctl->out, "state", "gone");
    tg_json_end_object(&ctl->out);
    return TG_OK;
}
