/* init and migrate. */
#include "admin-cgi/ctl/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/conf/sample.h"
#include "common/sql/dsn.h"
#include "common/store/migrate.h"
#include "common/store/partition.h"

enum { CONF_MODE = 0640, FOLDER_MODE = 0750, DAYS_AHEAD = 7, MONTHS_AHEAD = 2 };

static enum tg_class make_folder(struct ctl *ctl, const char *given, const char **ret)
{
    char path[PATH_MAX];

    if (mkdir(given, FOLDER_MODE) != 0 && errno != EEXIST)
        return tg_fail(&ctl->err, TG_CLASS_CONFIG, "init_folder", "%s: %s", given,
                       strerror(errno));
    if (realpath(given, path) == NULL)
        return tg_fail(&ctl->err, TG_CLASS_CONFIG, "init_folder", "%s: %s", given,
                       strerror(errno));
    *ret = tg_arena_strdup(ctl->arena, path);
    return TG_OK;
}

static void put_written(struct ctl *ctl, const char *name, const char *path, bool written)
{
    tg_json_put_str(&ctl->out, name, path);
    ctl_remark("%s %s", path, written ? "written" : "exists and is kept");
}

static enum tg_class make_secrets(struct ctl *ctl, const char *console, const char *private)
{
    bool written = access(console, F_OK) != 0 || access(private, F_OK) != 0;
    enum tg_class class = TG_OK;

    if (written) /* refuses when one of the two is there: they belong together */
        class = tg_secrets_create(console, private, &ctl->err);
    if (class != TG_OK)
        return class;
    put_written(ctl, "secrets", private, written);
    put_written(ctl, "console_secrets", console, written);
    return TG_OK;
}

/* Writes the file only if it is not there, and only if it can be loaded. */
static enum tg_class write_conf(struct ctl *ctl, const char *path, const struct tg_buf *text)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, CONF_MODE);
    struct tg_conf *conf = NULL;
    enum tg_class class;
    bool whole;

    if (fd < 0 && errno == EEXIST) {
        put_written(ctl, "conf", path, false);
        return TG_OK;
    }
    if (fd < 0)
        return tg_fail(&ctl->err, TG_CLASS_CONFIG, "init_conf", "%s: %s", path, strerror(errno));
    whole = write(fd, text->data, text->len) == (ssize_t)text->len;
    if (close(fd) != 0 || !whole) {
        unlink(path);
        return tg_fail(&ctl->err, TG_CLASS_CONFIG, "init_conf", "%s cannot be written", path);
    }
    class = tg_conf_load(path, NULL, 0, &conf, &ctl->err);
    tg_conf_free(conf);
    if (class == TG_OK)
        put_written(ctl, "conf", path, true);
    else
        unlink(path);
    return class;
}

static enum tg_class check_dsn(struct ctl *ctl, const char *dsn)
{
    struct tg_dsn unused;

    if (dsn != NULL && tg_dsn_parse(dsn, &unused, &ctl->err) != TG_OK)
        return ctl->err.class = TG_CLASS_INVALID;
    return TG_OK;
}

enum tg_class ctl_cmd_init(struct ctl *ctl, const struct ctl_args *args)
{
    const char *main_dsn = ctl_option(args, "--main"), *log_dsn = ctl_option(args, "--log");
    const char *redis = ctl_option(args, "--redis"), *listen = ctl_option(args, "--listen");
    struct tg_conf_overlay overlay[6];
    const char *folder;
    struct tg_buf text;
    size_t count = 0;
    enum tg_class class = check_dsn(ctl, main_dsn);

    if (class == TG_OK)
        class = check_dsn(ctl, log_dsn);
    if (class == TG_OK)
        class = make_folder(ctl, ctl_option_or(args, "--directory", TG_SYSCONFDIR "/tollgate"),
                            &folder);
    if (class != TG_OK)
        return class;
    const char *secrets = tg_arena_printf(ctl->arena, "%s/tollgate.secrets", folder);
    const char *console = tg_arena_printf(ctl->arena, "%s/console.secrets", folder);

    overlay[count++] = (struct tg_conf_overlay){"secrets.file", secrets};
    overlay[count++] = (struct tg_conf_overlay){"secrets.console_file", console};
    if (main_dsn != NULL)
        overlay[count++] = (struct tg_conf_overlay){"database.main", main_dsn};
    if (log_dsn != NULL)
        overlay[count++] = (struct tg_conf_overlay){"database.log", log_dsn};
    if (redis != NULL)
        overlay[count++] = (struct tg_conf_overlay){"redis.address", redis};
    if (listen != NULL)
        overlay[count++] = (struct tg_conf_overlay){"listen.address", listen};
    tg_buf_init(&text, 0);
    tg_conf_write_sample(overlay, count, &text);
    tg_json_begin_object(&ctl->out);
    class = write_conf(ctl, tg_arena_printf(ctl->arena, "%s/tollgate.conf", folder), &text);
    tg_buf_done(&text);
    if (class == TG_OK)
        class = make_secrets(ctl, console, secrets);
    tg_json_end_object(&ctl->out);
    if (class == TG_OK)
        ctl_remark("next: migrate, create-admin NAME, price import --shipped");
    return class;
}

static void applied(void *context, const char *file)
{
    struct ctl *ctl = context;

    tg_json_write_str(&ctl->out, file);
}

static enum tg_class migrate_one(struct ctl *ctl, const char *which, enum tg_option_id dsn,
                                 enum tg_option_id password_file)
{
    struct tg_buf password;
    struct tg_migration migration = {
        .dsn = tg_conf_text(ctl->conf, dsn),
        .folder = ctl_data_path(ctl, tg_arena_printf(ctl->arena, "sql/%s", which)),
        .applied = applied,
        .context = ctl};
    enum tg_class class;

    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(ctl->conf, password_file), &password, &ctl->err);
    migration.password = tg_buf_text(&password);
    tg_json_key(&ctl->out, which);
    tg_json_begin_array(&ctl->out);
    if (class == TG_OK)
        class = tg_store_migrate(&migration, &ctl->err);
    tg_json_end_array(&ctl->out);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

enum tg_class ctl_cmd_migrate(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t now_us = tg_unix_us();
    enum tg_class class;

    (void)args;
    tg_json_begin_object(&ctl->out);
    class = migrate_one(ctl, "main", TG_OPTION_DATABASE_MAIN,
                        TG_OPTION_DATABASE_MAIN_PASSWORD_FILE);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_entry_partitions_ensure(ctl->main_db, now_us, DAYS_AHEAD, &ctl->err);
    if (class == TG_OK)
        class = migrate_one(ctl, "log", TG_OPTION_DATABASE_LOG,
                            TG_OPTION_DATABASE_LOG_PASSWORD_FILE);
    if (class == TG_OK)
        class = ctl_open_log(ctl);
    if (class == TG_OK)
        class = tg_store_log_partitions_ensure(ctl->log_db, now_us, MONTHS_AHEAD, &ctl->err);
    tg_json_end_object(&ctl->out);
    return class;
}
