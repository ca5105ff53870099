/* group set, group allow, group forbid. */
#include "admin-cgi/ctl/commands.h"

#include <string.h>

#include "common/store/group.h"
#include "common/store/group_view.h"

/* "priority" is the word for no other order. */
static const char *order_mode(const struct ctl_args *args)
{
    const char *mode = ctl_option(args, "--order");

    return mode != NULL && strcmp(mode, "priority") == 0 ? "" : mode;
}

enum tg_class ctl_cmd_group_set(struct ctl *ctl, const struct ctl_args *args)
{
    const struct tg_group_change wish = {.name = args->positionals[0],
                                         .ratio = ctl_option(args, "--ratio"),
                                         .deposit_factor = ctl_option(args, "--deposit-factor"),
                                         .order_mode = order_mode(args)};
    enum tg_class class;

    if (wish.ratio == NULL && wish.deposit_factor == NULL && wish.order_mode == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--ratio is missing");
    class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_group_change(ctl->main_db, &ctl->actor, &wish, &ctl->err);
    if (class == TG_OK) {
        tg_json_begin_object(&ctl->out);
        class = tg_view_group(ctl->main_db, wish.name, &ctl->out, &ctl->err);
        tg_json_end_object(&ctl->out);
    }
    if (class == TG_OK)
        ctl_tell_workers(ctl, "groups");
    return class;
}

static enum tg_class set_access(struct ctl *ctl, const struct tg_group_access *access)
{
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_group_access_set(ctl->main_db, &ctl->actor, access, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "user_group", access->user_group);
    tg_json_put_str(&ctl->out, "used_group", access->used_group);
    tg_json_put_bool(&ctl->out, "allowed", access->allowed);
    tg_json_put_str(&ctl->out, "ratio", access->ratio[0] != '\0' ? access->ratio : NULL);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "groups");
    return TG_OK;
}

enum tg_class ctl_cmd_group_allow(struct ctl *ctl, const struct ctl_args *args)
{
    return set_access(ctl, &(struct tg_group_access){.user_group = args->positionals[0],
                                                     .used_group = args->positionals[1],
                                                     .allowed = true,
                                                     .ratio = ctl_option_or(args, "--ratio", "")});
}

enum tg_class ctl_cmd_group_forbid(struct ctl *ctl, const struct ctl_args *args)
{
    return set_access(ctl, &(struct tg_group_access){.user_group = args->positionals[0],
                                                     .used_group = args->positionals[1],
                                                     .ratio = ""});
}
