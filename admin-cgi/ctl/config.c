/* config check, config show, config set, config reset. */
#include "admin-cgi/ctl/commands.h"

#include <unistd.h>

#include "common/store/option.h"

/* The conf file was read already; what it names is looked at here. No store is asked. */
enum tg_class ctl_cmd_config_check(struct ctl *ctl, const struct ctl_args *args)
{
    static const enum tg_option_id passwords[] = {TG_OPTION_DATABASE_MAIN_PASSWORD_FILE,
                                                  TG_OPTION_DATABASE_LOG_PASSWORD_FILE,
                                                  TG_OPTION_REDIS_PASSWORD_FILE};
    const char *private = tg_conf_text(ctl->conf, TG_OPTION_SECRETS_FILE);
    struct tg_buf password;
    enum tg_class class = TG_OK;

    (void)args;
    for (size_t i = 0; i < TG_COUNT_OF(passwords) && class == TG_OK; i++) {
        tg_buf_init(&password, 0);
        class = tg_conf_password(tg_conf_text(ctl->conf, passwords[i]), &password, &ctl->err);
        if (password.len > 0)
            tg_wipe(password.data, password.len);
        tg_buf_done(&password);
    }
    if (class == TG_OK) /* the master key is for the workers' account only */
        class = tg_secrets_read(tg_conf_text(ctl->conf, TG_OPTION_SECRETS_CONSOLE_FILE),
                                access(private, R_OK) == 0 ? private : NULL, &ctl->secrets,
                                &ctl->err);
    if (class != TG_OK)
        return class;
    ctl->has_secrets = true;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "conf", ctl->conf_path);
    tg_json_put_bool(&ctl->out, "ok", true);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

/* Rows that do not fit are in force nowhere. */
static size_t keep_fitting(struct tg_conf_overlay *overlay, size_t count)
{
    struct tg_error err;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (tg_conf_check_overlay(&overlay[i], &err) == TG_OK)
            overlay[kept++] = overlay[i];
        else
            ctl_remark("left out: %s", err.message);
    }
    return kept;
}

/* Values of the database are in force too; without it the rest is still worth showing. */
static enum tg_class lay_options_over(struct ctl *ctl)
{
    struct tg_conf_overlay *overlay = NULL;
    struct tg_conf *conf = NULL;
    size_t count = 0;
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_options(ctl->main_db, ctl->arena, &overlay, &count, &ctl->err);
    if (class != TG_OK) {
        ctl_remark("settings of the database are left out: %s", ctl->err.message);
        return TG_OK;
    }
    class = tg_conf_load(ctl->conf_path, overlay, keep_fitting(overlay, count), &conf, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_db_release(ctl->main_db); /* borrows from the conf that goes */
    tg_db_pool_free(ctl->main_pool);
    ctl->main_db = NULL;
    ctl->main_pool = NULL;
    tg_conf_free(ctl->conf);
    ctl->conf = conf;
    return TG_OK;
}

enum tg_class ctl_cmd_config_show(struct ctl *ctl, const struct ctl_args *args)
{
    static const char *const sources[] = {[TG_CONF_FROM_DEFAULT] = "default",
                                          [TG_CONF_FROM_ENVIRONMENT] = "environment",
                                          [TG_CONF_FROM_FILE] = "file",
                                          [TG_CONF_FROM_DATABASE] = "database"};
    enum tg_class class = lay_options_over(ctl);

    (void)args;
    if (class != TG_OK)
        return class;
    ctl->columns = "name value source";
    tg_json_begin_array(&ctl->out);
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        enum tg_option_id id = (enum tg_option_id)i;

        tg_json_begin_object(&ctl->out);
        tg_json_put_str(&ctl->out, "name", tg_options[i].name);
        tg_json_put_str(&ctl->out, "value", tg_conf_shown(ctl->conf, id));
        tg_json_put_str(&ctl->out, "source", sources[tg_conf_source(ctl->conf, id)]);
        tg_json_put_str(&ctl->out, "meaning", tg_options[i].meaning);
        tg_json_end_object(&ctl->out);
    }
    tg_json_end_array(&ctl->out);
    return TG_OK;
}

static enum tg_class set_option(struct ctl *ctl, const char *name, const char *value)
{
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_option_set(ctl->main_db, &ctl->actor, name, value, &ctl->err);
    if (class != TG_OK)
        return class;
    ctl_tell_workers(ctl, "options");
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "name", name);
    tg_json_put_str(&ctl->out, "value", value);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

enum tg_class ctl_cmd_config_set(struct ctl *ctl, const struct ctl_args *args)
{
    return set_option(ctl, args->positionals[0], args->positionals[1]);
}

enum tg_class ctl_cmd_config_reset(struct ctl *ctl, const struct ctl_args *args)
{
    return set_option(ctl, args->positionals[0], NULL);
}
