/* key add, list, enable, disable, remove, cap, mode. */
#include "admin-cgi/ctl/commands.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/money.h"
#include "common/store/channel_change.h"
#include "common/store/list.h"

/* --- what a cap is ------------------------------------------------------------------------- */

static enum tg_class read_amount(struct ctl *ctl, const struct ctl_args *args,
                                 const char *option, struct tg_key_cap *cap)
{
    if (strcmp(option, "--usd") != 0)
        return ctl_option_int(args, option, &cap->value, &ctl->err);
    if (!tg_usd_parse(ctl_option(args, option), &cap->value))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--usd: no amount");
    return TG_OK;
}

/* *ret_given: whether any of the options was. */
static enum tg_class read_cap(struct ctl *ctl, const struct ctl_args *args,
                              struct tg_key_cap *cap, bool *ret_given)
{
    static const char *const units[] = {"requests", "tokens", "usd"};
    const char *zone = ctl_option(args, "--zone");
    enum tg_class class = TG_OK;

    *cap = (struct tg_key_cap){.unit = "", .reset_zone = zone != NULL ? zone : "UTC"};
    *ret_given = zone != NULL || ctl_option(args, "--reset-hour") != NULL;
    for (size_t i = 0; i < TG_COUNT_OF(units) && class == TG_OK; i++) {
        const char *option = tg_arena_printf(ctl->arena, "--%s", units[i]);

        if (ctl_option(args, option) == NULL)
            continue;
        if (cap->unit[0] != '\0')
            return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "a key has one cap");
        cap->unit = units[i];
        *ret_given = true;
        class = read_amount(ctl, args, option, cap);
    }
    if (class == TG_OK)
        class = ctl_option_int(args, "--reset-hour", &cap->reset_hour, &ctl->err);
    return class == TG_OK ? tg_key_cap_check(cap, &ctl->err) : class;
}

/* --- commands ------------------------------------------------------------------------------ */

static void answer(struct ctl *ctl, const char *name, int64_t value)
{
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, name, value);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "channels");
}

static enum tg_class add_keys(struct ctl *ctl, struct tg_channel_keys_new *keys)
{
    keys->seal = ctl_seal(ctl);
    return tg_store_channel_keys_add(ctl->main_db, &ctl->actor, keys, &ctl->err);
}

enum tg_class ctl_cmd_key_add(struct ctl *ctl, const struct ctl_args *args)
{
    struct ctl_secret_list list;
    struct tg_channel_keys_new keys = {.channel_id = 0};
    struct tg_key_cap cap;
    bool has_cap = false;
    enum tg_class class = ctl_id(args->positionals[0], &keys.channel_id, &ctl->err);

    if (class == TG_OK)
        class = read_cap(ctl, args, &cap, &has_cap);
    if (class == TG_OK)
        class = ctl_open_secrets(ctl);
    if (class != TG_OK)
        return class;
    class = ctl_secret_lines(ctl, args, "key", &list);
    keys.keys = list.items;
    keys.count = list.count;
    keys.cap = has_cap ? &cap : NULL;
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = add_keys(ctl, &keys);
    if (ctl_other_secrets(ctl, class))
        class = add_keys(ctl, &keys);
    ctl_secret_list_done(&list);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "added", (int64_t)(keys.count - keys.same_count));
    tg_json_put_int(&ctl->out, "same", (int64_t)keys.same_count);
    tg_json_end_object(&ctl->out);
    if (keys.same_count > 0)
        ctl_remark("%zu are left out: the channel has them already, or they came twice",
                   keys.same_count);
    ctl_tell_workers(ctl, "channels");
    return TG_OK;
}

enum tg_class ctl_cmd_key_list(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t channel_id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &channel_id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    ctl->columns = "id hint state state_until_at state_reason cap_unit cap_value used";
    tg_json_begin_object(&ctl->out);
    class = tg_list_channel_keys(ctl->main_db, channel_id, &ctl->out, &ctl->err);
    tg_json_end_object(&ctl->out);
    return class;
}

/* The key's id, when it is one of the channel. */
static enum tg_class key_of(struct ctl *ctl, const struct ctl_args *args, int64_t *ret)
{
    int64_t channel_id = 0, owner = 0;
    enum tg_class class = ctl_id(args->positionals[0], &channel_id, &ctl->err);

    if (class == TG_OK)
        class = ctl_id(args->positionals[1], ret, &ctl->err);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_channel_key_owner(ctl->main_db, *ret, &owner, &ctl->err);
    if (class == TG_OK && owner != channel_id)
        class = tg_fail(&ctl->err, TG_CLASS_NOT_FOUND, "key_not_found",
                        "the channel has no such key");
    return class;
}

static enum tg_class set_state(struct ctl *ctl, const struct ctl_args *args, const char *state)
{
    int64_t id = 0;
    enum tg_class class = key_of(ctl, args, &id);

    if (class == TG_OK)
        class = tg_store_channel_key_set(ctl->main_db, &ctl->actor, id, state, &ctl->err);
    if (class == TG_OK)
        answer(ctl, "id", id);
    return class;
}

enum tg_class ctl_cmd_key_enable(struct ctl *ctl, const struct ctl_args *args)
{
    return set_state(ctl, args, "active");
}

enum tg_class ctl_cmd_key_disable(struct ctl *ctl, const struct ctl_args *args)
{
    return set_state(ctl, args, "disabled");
}

enum tg_class ctl_cmd_key_remove(struct ctl *ctl, const struct ctl_args *args)
{
    return set_state(ctl, args, "deleted");
}

enum tg_class ctl_cmd_key_cap(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_key_cap cap;
    bool unused;
    int64_t id = 0;
    enum tg_class class = read_cap(ctl, args, &cap, &unused);

    if (class == TG_OK)
        class = key_of(ctl, args, &id);
    if (class == TG_OK)
        class = tg_store_channel_key_cap(ctl->main_db, &ctl->actor, id, &cap, &ctl->err);
    if (class == TG_OK)
        answer(ctl, "id", id);
    return class;
}

enum tg_class ctl_cmd_key_mode(struct ctl *ctl, const struct ctl_args *args)
{
    const char *mode = args->positionals[1];
    int64_t channel_id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &channel_id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_channel_key_mode(ctl->main_db, &ctl->actor, channel_id,
                                          strcmp(mode, "order") == 0 ? "" : mode, &ctl->err);
    if (class == TG_OK)
        answer(ctl, "id", channel_id);
    return class;
}
