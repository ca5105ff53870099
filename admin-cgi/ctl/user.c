/* create-admin, user add, credit. */
#include "admin-cgi/ctl/commands.h"

#include <string.h>

#include "common/base/money.h"
#include "common/store/credit.h"
#include "common/store/user.h"

enum tg_class ctl_cmd_create_admin(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_user_new user = {
        .username = args->positionals[0], .role = "root", .group_name = "default"};
    struct tg_buf password, hash;
    int64_t id = 0;
    enum tg_class class;

    tg_buf_init(&hash, 0);
    class = ctl_secret(ctl, args, "password", &password);
    if (class == TG_OK)
        class = tg_password_hash(tg_buf_text(&password), &hash, &ctl->err);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    user.password_hash = tg_buf_text(&hash);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_user_add(ctl->main_db, &ctl->actor, &user, &id, &ctl->err);
    tg_buf_done(&hash);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_put_str(&ctl->out, "username", user.username);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

static enum tg_class parse_usd(struct ctl *ctl, const char *text, int64_t *ret_quota)
{
    if (tg_usd_parse(text, ret_quota))
        return TG_OK;
    return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                   "an amount is USD in decimals, in steps of 0.000002: 12.5");
}

static enum tg_class give(struct ctl *ctl, int64_t user_id, int64_t quota, const char *reason)
{
    const struct tg_credit_new credit = {
        .user_id = user_id, .amount_quota = quota, .kind = "admin", .reason = reason};
    char text[TG_ID_TEXT], usd[TG_USD_TEXT];
    struct tg_entry entry;
    enum tg_class class =
        tg_store_credit_add(ctl->main_db, &ctl->actor, &credit, &entry, &ctl->err);

    if (class != TG_OK)
        return class;
    tg_id_format(&entry.id, text);
    tg_usd_format(quota, usd);
    tg_json_put_str(&ctl->out, "entry_id", text);
    tg_json_put_int(&ctl->out, "amount_quota", quota);
    tg_json_put_str(&ctl->out, "amount_quota_usd", usd);
    tg_json_put_bool(&ctl->out, "pushed", ctl_push(ctl, &entry));
    return TG_OK;
}

enum tg_class ctl_cmd_user_add(struct ctl *ctl, const struct ctl_args *args)
{
    const struct tg_user_new user = {.username = args->positionals[0],
                                     .role = ctl_option_or(args, "--role", "user"),
                                     .group_name = ctl_option_or(args, "--group", "default")};
    const char *amount = ctl_option(args, "--credit");
    int64_t id = 0, quota = 0;
    enum tg_class class = TG_OK;

    if (strcmp(user.role, "root") == 0)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "a role is user or admin");
    if (amount != NULL)
        class = parse_usd(ctl, amount, &quota);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_user_add(ctl->main_db, &ctl->actor, &user, &id, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_put_str(&ctl->out, "username", user.username);
    if (quota != 0)
        class = give(ctl, id, quota, "first credit");
    tg_json_end_object(&ctl->out);
    return class;
}

enum tg_class ctl_cmd_credit(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t user_id = 0, quota = 0;
    enum tg_class class = parse_usd(ctl, args->positionals[1], &quota);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_user_id(ctl->main_db, args->positionals[0], &user_id, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    class = give(ctl, user_id, quota, ctl_option_or(args, "--reason", ""));
    tg_json_end_object(&ctl->out);
    return class;
}
