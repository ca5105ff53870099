/* channel add, set, list, enable, disable. */
#include "admin-cgi/ctl/commands.h"

#include <string.h>

#include "common/conf/units.h"
#include "common/http/url.h"
#include "common/store/channel.h"
#include "common/store/channel_change.h"
#include "common/store/view.h"

typedef bool pair_ok_fn(const char *name, const char *value);

static bool is_mapping(const char *name, const char *value)
{
    return *name != '\0' && *value != '\0';
}

static bool is_timeout(const char *name, const char *value)
{
    int64_t unused;

    return (strcmp(name, "connect") == 0 || strcmp(name, "first_byte") == 0 ||
            strcmp(name, "idle") == 0) &&
           tg_duration_parse(value, &unused);
}

/* "a=b,c=d" as a JSON object; NULL when the option was not given. */
static enum tg_class read_pairs(struct ctl *ctl, const struct ctl_args *args, const char *option,
                                pair_ok_fn *is_ok, const char **ret)
{
    const char *text = ctl_option(args, option);
    const char *const *pairs;
    size_t count;
    struct tg_buf json;
    struct tg_json_writer out;
    enum tg_class class = TG_OK;

    if (text == NULL)
        return TG_OK;
    ctl_list(ctl->arena, text, &pairs, &count);
    tg_buf_init(&json, 0);
    tg_json_writer_init(&out, &json);
    tg_json_begin_object(&out);
    for (size_t i = 0; i < count && class == TG_OK; i++) {
        size_t len = strcspn(pairs[i], "=");
        const char *name = tg_arena_strndup(ctl->arena, pairs[i], len);

        if (pairs[i][len] == '=' && is_ok(name, pairs[i] + len + 1))
            tg_json_put_str(&out, name, pairs[i] + len + 1);
        else
            class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "%s: %s is not understood",
                            option, pairs[i]);
    }
    tg_json_end_object(&out);
    *ret = tg_arena_strdup(ctl->arena, tg_buf_text(&json));
    tg_buf_done(&json);
    return class;
}

static enum tg_class read_maps(struct ctl *ctl, const struct ctl_args *args,
                               const char **ret_mapping, const char **ret_timeouts)
{
    enum tg_class class = read_pairs(ctl, args, "--map", is_mapping, ret_mapping);

    return class == TG_OK ? read_pairs(ctl, args, "--timeouts", is_timeout, ret_timeouts) : class;
}

/* A channel that has a proxy trusts it with names and addresses. */
static enum tg_class check_reach(struct ctl *ctl, const struct tg_channel_new *channel)
{
    const char *list = tg_conf_text(ctl->conf, TG_OPTION_NET_CHANNEL_ALLOW);
    struct tg_cidr *allow;
    size_t count;
    enum tg_class class = tg_cidrs_parse(ctl->arena, list, &allow, &count, &ctl->err);

    if (class != TG_OK || channel->proxy[0] != '\0')
        return class;
    return tg_url_check_reach(channel->base_url, allow, count, &ctl->err);
}

static enum tg_class read_options(struct ctl *ctl, const struct ctl_args *args,
                                  struct tg_channel_new *channel)
{
    enum tg_class class = TG_OK;

    if (channel->base_url == NULL || ctl_option(args, "--models") == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--base-url or --models is missing");
    ctl_list(ctl->arena, ctl_option(args, "--models"), &channel->models, &channel->model_count);
    ctl_list(ctl->arena, ctl_option_or(args, "--groups", "default"), &channel->groups,
             &channel->group_count);
    class = check_reach(ctl, channel);
    if (class == TG_OK)
        class = ctl_option_int(args, "--priority", &channel->priority, &ctl->err);
    if (class == TG_OK)
        class = ctl_option_int(args, "--weight", &channel->weight, &ctl->err);
    return class == TG_OK ? read_maps(ctl, args, &channel->model_mapping, &channel->timeouts)
                          : class;
}

static enum tg_class answer_id(struct ctl *ctl, int64_t id)
{
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "channels");
    return TG_OK;
}

static enum tg_class add_channel(struct ctl *ctl, struct tg_channel_new *channel, int64_t *ret_id)
{
    channel->seal = ctl_seal(ctl);
    return tg_store_channel_add(ctl->main_db, &ctl->actor, channel, ret_id, &ctl->err);
}

enum tg_class ctl_cmd_channel_add(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_channel_new channel = {.name = args->positionals[0],
                                     .base_url = ctl_option(args, "--base-url"),
                                     .provider = ctl_option_or(args, "--provider", "openai"),
                                     .organisation = ctl_option_or(args, "--organisation", ""),
                                     .proxy = ctl_option_or(args, "--proxy", ""),
                                     .loss_policy = ctl_option(args, "--loss"),
                                     .weight = 1};
    struct tg_buf key;
    int64_t id = 0;
    enum tg_class class = read_options(ctl, args, &channel);

    if (class == TG_OK)
        class = ctl_open_secrets(ctl);
    if (class != TG_OK)
        return class;
    class = ctl_secret(ctl, args, "key", &key);
    channel.key = tg_buf_text(&key);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = add_channel(ctl, &channel, &id);
    if (ctl_other_secrets(ctl, class))
        class = add_channel(ctl, &channel, &id);
    if (key.len > 0)
        tg_wipe(key.data, key.len);
    tg_buf_done(&key);
    return class == TG_OK ? answer_id(ctl, id) : class;
}

/* Numbers that were given; the pointers stay NULL for those that were not. */
struct numbers {
    int64_t priority, weight;
};

static enum tg_class read_numbers(struct ctl *ctl, const struct ctl_args *args,
                                  struct numbers *numbers, struct tg_channel_change *wish)
{
    enum tg_class class = ctl_option_int(args, "--priority", &numbers->priority, &ctl->err);

    if (class == TG_OK)
        class = ctl_option_int(args, "--weight", &numbers->weight, &ctl->err);
    if (ctl_option(args, "--priority") != NULL)
        wish->priority = &numbers->priority;
    if (ctl_option(args, "--weight") != NULL)
        wish->weight = &numbers->weight;
    return class;
}

enum tg_class ctl_cmd_channel_set(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_channel_change wish = {.name = ctl_option(args, "--name"),
                                     .organisation = ctl_option(args, "--organisation"),
                                     .loss_policy = ctl_option(args, "--loss"),
                                     .auto_disable = -1};
    struct numbers numbers = {0};
    enum tg_class class = ctl_id(args->positionals[0], &wish.id, &ctl->err);

    if (class == TG_OK && args->option_count == 0)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "nothing to set");
    if (class == TG_OK)
        class = read_numbers(ctl, args, &numbers, &wish);
    if (class == TG_OK)
        class = read_maps(ctl, args, &wish.model_mapping, &wish.timeouts);
    if (ctl_option(args, "--models") != NULL)
        ctl_list(ctl->arena, ctl_option(args, "--models"), &wish.models, &wish.model_count);
    if (ctl_option(args, "--groups") != NULL)
        ctl_list(ctl->arena, ctl_option(args, "--groups"), &wish.groups, &wish.group_count);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_channel_change(ctl->main_db, &ctl->actor, &wish, &ctl->err);
    return class == TG_OK ? answer_id(ctl, wish.id) : class;
}

enum tg_class ctl_cmd_channel_list(struct ctl *ctl, const struct ctl_args *args)
{
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    ctl->columns = "id name status provider priority weight tested_at test_ms test_code "
                   "balance_usd groups_list models";
    return class == TG_OK ? tg_view_channels(ctl->main_db, &ctl->out, &ctl->err) : class;
}

static enum tg_class set_status(struct ctl *ctl, const struct ctl_args *args, const char *status)
{
    int64_t id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_channel_set_status(ctl->main_db, &ctl->actor, id, status, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", id);
    tg_json_put_str(&ctl->out, "status", status);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "channels");
    return TG_OK;
}

enum tg_class ctl_cmd_channel_enable(struct ctl *ctl, const struct ctl_args *args)
{
    return set_status(ctl, args, "enabled");
}

enum tg_class ctl_cmd_channel_disable(struct ctl *ctl, const struct ctl_args *args)
{
    return set_status(ctl, args, "disabled");
}
