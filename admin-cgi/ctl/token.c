/* token create, token revoke. */
#include "admin-cgi/ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/conf/units.h"
#include "common/credential/cache.h"
#include "common/store/token.h"
#include "common/store/user.h"

static enum tg_class read_addresses(struct ctl *ctl, const struct ctl_args *args,
                                    struct tg_token_new *token)
{
    const char *text = ctl_option(args, "--allow");
    struct tg_cidr unused;

    if (text == NULL)
        return TG_OK;
    ctl_list(ctl->arena, text, &token->addresses, &token->address_count);
    for (size_t i = 0; i < token->address_count; i++)
        if (!tg_cidr_parse(token->addresses[i], &unused))
            return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                           "%s is no address and no range like 10.0.0.0/8", token->addresses[i]);
    return TG_OK;
}

static enum tg_class read_options(struct ctl *ctl, const struct ctl_args *args,
                                  struct tg_token_new *token)
{
    const char *limit = ctl_option(args, "--limit"), *expires = ctl_option(args, "--expires");
    const char *models = ctl_option(args, "--models");

    if (limit != NULL && ctl_option(args, "--unlimited") != NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a token is limited or unlimited, not both");
    token->unlimited = limit == NULL;
    if (limit != NULL && (!tg_usd_parse(limit, &token->remain_quota) || token->remain_quota < 0))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "a limit is an amount in USD: 12.5");
    if (expires != NULL && (!tg_time_parse(expires, &token->expires_unix_us) ||
                            token->expires_unix_us <= 0))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a time is written like 2027-01-31T00:00:00Z");
    if (models != NULL)
        ctl_list(ctl->arena, models, &token->models, &token->model_count);
    if (ctl_option(args, "--auto-groups") != NULL)
        ctl_list(ctl->arena, ctl_option(args, "--auto-groups"), &token->auto_groups,
                 &token->auto_group_count);
    token->cross_group_retry = ctl_option(args, "--cross-group-retry") != NULL;
    return read_addresses(ctl, args, token);
}

/* The text leaves through the document and nowhere else. */
static enum tg_class make_token(struct ctl *ctl, const struct tg_token_new *wish)
{
    struct tg_token_new token = *wish;
    char text[TG_TOKEN_TEXT], hex[TG_HMAC_HEX];
    uint8_t hmac[TG_HMAC_BYTES];
    int64_t id = 0;
    enum tg_class class;

    tg_token_new(text);
    tg_hmac(ctl->secrets.token_pepper, text, strlen(text), hmac);
    tg_hex(hmac, sizeof hmac, hex);
    token.key_hmac = hex;
    token.hint = text + strlen(text) - 4;
    class = tg_store_token_add(ctl->main_db, &ctl->actor, &token, &id, &ctl->err);
    if (class == TG_OK) {
        tg_json_begin_object(&ctl->out);
        tg_json_put_int(&ctl->out, "id", id);
        tg_json_put_str(&ctl->out, "token", text);
        tg_json_end_object(&ctl->out);
    }
    tg_wipe(text, sizeof text);
    return class;
}

enum tg_class ctl_cmd_token_create(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_token_new token = {.name = ctl_option_or(args, "--name", "default"),
                                 .group_name = ctl_option_or(args, "--group", ""),
                                 .loss_policy = ctl_option(args, "--loss")};
    const char *user = ctl_option(args, "--user");
    enum tg_class class = read_options(ctl, args, &token);

    if (class == TG_OK && user == NULL)
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--user is missing");
    if (class == TG_OK)
        class = ctl_open_secrets(ctl);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_user_id(ctl->main_db, user, &token.user_id, &ctl->err);
    return class == TG_OK ? make_token(ctl, &token) : class;
}

enum tg_class ctl_cmd_token_revoke(struct ctl *ctl, const struct ctl_args *args)
{
    char hmac[TG_HMAC_HEX];
    struct tg_entry entry;
    int64_t id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_token_hmac(ctl->main_db, id, hmac, &ctl->err);
    if (class == TG_OK)
        class = ctl_open_redis(ctl);
    if (class == TG_OK)
        class = tg_credential_change_begin(ctl->kv, hmac, &ctl->err);
    if (class == TG_OK)
        class = tg_store_token_revoke(ctl->main_db, &ctl->actor, id, &entry, &ctl->err);
    if (class == TG_OK)
        class = tg_credential_change_end(ctl->kv, hmac, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_put_str(&ctl->out, "status", "revoked");
    tg_json_put_bool(&ctl->out, "pushed", ctl_push(ctl, &entry));
    tg_json_end_object(&ctl->out);
    return TG_OK;
}
