/* user set, user enable, user disable, token set. */
#include "admin-cgi/ctl/commands.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/credential/apply.h"
#include "common/store/user.h"

static enum tg_class open_apply(struct ctl *ctl, struct tg_apply *ret)
{
    enum tg_class class = ctl_open_ledger(ctl);

    *ret = (struct tg_apply){.db = ctl->main_db,
                             .kv = ctl->kv,
                             .ledger = ctl->ledger,
                             .actor = &ctl->actor,
                             .arena = ctl->arena};
    return class;
}

static enum tg_class nothing(struct ctl *ctl)
{
    return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "nothing to change was given");
}

static enum tg_class answer(struct ctl *ctl, int64_t id, bool pushed)
{
    if (!pushed)
        ctl_remark("Redis could not be told yet; tollgate-ledger will");
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_put_bool(&ctl->out, "pushed", pushed);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

static enum tg_class change_user(struct ctl *ctl, const char *username,
                                 const struct tg_person_change *wish)
{
    struct tg_person_change full = *wish;
    struct tg_apply apply;
    bool pushed = false;
    enum tg_class class = open_apply(ctl, &apply);

    if (class == TG_OK)
        class = tg_store_user_id(ctl->main_db, username, &full.id, &ctl->err);
    if (class == TG_OK)
        class = tg_apply_person(&apply, &full, &pushed, &ctl->err);
    return class == TG_OK ? answer(ctl, full.id, pushed) : class;
}

enum tg_class ctl_cmd_user_enable(struct ctl *ctl, const struct ctl_args *args)
{
    return change_user(ctl, args->positionals[0], &(struct tg_person_change){.status = "enabled"});
}

enum tg_class ctl_cmd_user_disable(struct ctl *ctl, const struct ctl_args *args)
{
    return change_user(ctl, args->positionals[0], &(struct tg_person_change){.status = "disabled"});
}

enum tg_class ctl_cmd_user_set(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_person_change wish = {.group_name = ctl_option(args, "--group"),
                                    .status = ctl_option(args, "--status"),
                                    .role = ctl_option(args, "--role"),
                                    .team = ctl_option(args, "--team")};
    const char *accepts = ctl_option(args, "--accept-unpriced");
    bool accept = accepts != NULL && strcmp(accepts, "yes") == 0;

    if (args->option_count == 0)
        return nothing(ctl);
    if (accepts != NULL && !accept && strcmp(accepts, "no") != 0)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--accept-unpriced takes yes or no");
    if (accepts != NULL)
        wish.accept_unpriced = &accept;
    return change_user(ctl, args->positionals[0], &wish);
}

/* "all" takes a list of models away, "none" leaves an empty one. */
static void read_lists(struct ctl *ctl, const struct ctl_args *args, struct tg_token_change *wish)
{
    static const char *const none[] = {NULL};
    const char *models = ctl_option(args, "--models"), *allow = ctl_option(args, "--allow");

    if (models != NULL) {
        wish->parts |= TG_TOKEN_MODELS;
        if (strcmp(models, "none") == 0)
            wish->models = none;
        else if (strcmp(models, "all") != 0)
            ctl_list(ctl->arena, models, &wish->models, &wish->model_count);
    }
    if (allow != NULL) {
        wish->parts |= TG_TOKEN_ADDRESSES;
        if (strcmp(allow, "all") != 0)
            ctl_list(ctl->arena, allow, &wish->addresses, &wish->address_count);
    }
}

static enum tg_class read_auto(struct ctl *ctl, const struct ctl_args *args,
                               struct tg_token_change *wish)
{
    const char *groups = ctl_option(args, "--auto-groups");
    const char *cross = ctl_option(args, "--cross-group-retry");

    if (groups != NULL) {
        wish->parts |= TG_TOKEN_AUTO_GROUPS;
        if (*groups != '\0')
            ctl_list(ctl->arena, groups, &wish->auto_groups, &wish->auto_group_count);
    }
    if (cross == NULL)
        return TG_OK;
    wish->parts |= TG_TOKEN_CROSS_GROUPS;
    wish->cross_group_retry = strcmp(cross, "yes") == 0;
    if (!wish->cross_group_retry && strcmp(cross, "no") != 0)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--cross-group-retry takes yes or no");
    return TG_OK;
}

static enum tg_class read_limit(struct ctl *ctl, const struct ctl_args *args,
                                struct tg_token_change *wish)
{
    const char *limit = ctl_option(args, "--limit"), *expires = ctl_option(args, "--expires");

    wish->unlimited = ctl_option(args, "--unlimited") != NULL;
    if (limit != NULL && wish->unlimited)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a token is limited or unlimited, not both");
    if (limit != NULL && (!tg_usd_parse(limit, &wish->remain_quota) || wish->remain_quota < 0))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "a limit is an amount in USD: 12.5");
    if (limit != NULL || wish->unlimited)
        wish->parts |= TG_TOKEN_LIMIT;
    if (expires == NULL)
        return TG_OK;
    wish->parts |= TG_TOKEN_EXPIRES;
    if (strcmp(expires, "never") != 0 &&
        (!tg_time_parse(expires, &wish->expires_unix_us) || wish->expires_unix_us <= 0))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a time is written like 2027-01-31T00:00:00Z, or never");
    return TG_OK;
}

static void read_texts(const struct ctl_args *args, struct tg_token_change *wish)
{
    wish->name = ctl_option(args, "--name");
    wish->status = ctl_option(args, "--status");
    wish->group_name = ctl_option(args, "--group");
    wish->loss_policy = ctl_option(args, "--loss");
    if (wish->name != NULL)
        wish->parts |= TG_TOKEN_NAME;
    if (wish->status != NULL)
        wish->parts |= TG_TOKEN_STATUS;
    if (wish->group_name != NULL)
        wish->parts |= TG_TOKEN_GROUP;
    if (wish->loss_policy != NULL)
        wish->parts |= TG_TOKEN_LOSS_POLICY;
}

enum tg_class ctl_cmd_token_set(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_token_change wish = {.id = 0};
    struct tg_apply apply;
    bool pushed = false;
    enum tg_class class = ctl_id(args->positionals[0], &wish.id, &ctl->err);

    if (class == TG_OK)
        class = read_limit(ctl, args, &wish);
    if (class == TG_OK)
        class = read_auto(ctl, args, &wish);
    if (class != TG_OK)
        return class;
    read_lists(ctl, args, &wish);
    read_texts(args, &wish);
    if (wish.parts == 0)
        return nothing(ctl);
    class = open_apply(ctl, &apply);
    if (class == TG_OK)
        class = tg_apply_token(&apply, &wish, &pushed, &ctl->err);
    return class == TG_OK ? answer(ctl, wish.id, pushed) : class;
}
