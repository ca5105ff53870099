#include "admin-cgi/ctl/ctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

/* A person waits; what is away for longer is away. */
static const int64_t redis_wait_us = 1500000;

void ctl_init(struct ctl *ctl)
{
    *ctl = (struct ctl){.arena = tg_arena_new(), .actor = {.address = ""}};
    tg_buf_init(&ctl->buf, 0);
    tg_json_writer_init(&ctl->out, &ctl->buf);
}

void ctl_done(struct ctl *ctl)
{
    tg_ledger_free(ctl->ledger);
    tg_db_release(ctl->main_db);
    tg_db_release(ctl->log_db);
    tg_db_pool_free(ctl->main_pool);
    tg_db_pool_free(ctl->log_pool);
    tg_kv_pool_free(ctl->kv);
    if (ctl->has_secrets)
        tg_secrets_done(&ctl->secrets);
    tg_conf_free(ctl->conf);
    tg_buf_done(&ctl->buf);
    tg_arena_free(ctl->arena);
}

void ctl_remark(const char *format, ...)
{
    va_list args;

    fputs("tollgatectl: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

const char *ctl_data_path(struct ctl *ctl, const char *name)
{
    const char *folder = getenv("TOLLGATE_DATADIR");

    return tg_arena_printf(ctl->arena, "%s/%s",
                           folder != NULL && *folder != '\0' ? folder : TG_PKGDATADIR, name);
}

/* Two connections: the ledger takes one of its own beside the command's. */
static enum tg_class open_database(struct ctl *ctl, enum tg_option_id dsn,
                                   enum tg_option_id password_file, struct tg_db_pool **ret,
                                   struct tg_db **ret_db)
{
    struct tg_buf password;
    struct tg_db_conf conf = {.dsn = tg_conf_text(ctl->conf, dsn),
                              .connections = 2,
                              .timeout_us = tg_conf_int(ctl->conf, TG_OPTION_DATABASE_TIMEOUT)};
    enum tg_class class;

    if (*ret_db != NULL)
        return TG_OK;
    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(ctl->conf, password_file), &password, &ctl->err);
    conf.password = tg_buf_text(&password);
    if (class == TG_OK && *ret == NULL)
        class = tg_db_pool_new(&conf, ret, &ctl->err);
    if (class == TG_OK)
        class = tg_db_acquire(*ret, tg_now_us() + conf.timeout_us, ret_db, &ctl->err);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

enum tg_class ctl_open_main(struct ctl *ctl)
{
    return open_database(ctl, TG_OPTION_DATABASE_MAIN, TG_OPTION_DATABASE_MAIN_PASSWORD_FILE,
                         &ctl->main_pool, &ctl->main_db);
}

enum tg_class ctl_open_log(struct ctl *ctl)
{
    return open_database(ctl, TG_OPTION_DATABASE_LOG, TG_OPTION_DATABASE_LOG_PASSWORD_FILE,
                         &ctl->log_pool, &ctl->log_db);
}

enum tg_class ctl_open_redis(struct ctl *ctl)
{
    struct tg_buf password;
    struct tg_kv_conf conf = {.address = tg_conf_text(ctl->conf, TG_OPTION_REDIS_ADDRESS),
                              .user = tg_conf_text(ctl->conf, TG_OPTION_REDIS_USER),
                              .connections = 2};
    enum tg_class class;

    if (ctl->kv != NULL)
        return TG_OK;
    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(ctl->conf, TG_OPTION_REDIS_PASSWORD_FILE), &password,
                             &ctl->err);
    conf.password = tg_buf_text(&password);
    if (class == TG_OK)
        class = tg_kv_pool_new(&conf, &ctl->kv, &ctl->err);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

enum tg_class ctl_open_ledger(struct ctl *ctl)
{
    static const char node[] = "tollgatectl"; /* takes no deposits, so it never holds any */
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = ctl_open_redis(ctl);
    if (class == TG_OK && ctl->ledger == NULL)
        ctl->ledger = tg_ledger_new(
            &(struct tg_ledger_conf){.kv = ctl->kv,
                                     .main_db = ctl->main_pool,
                                     .node = node,
                                     .lease_us = tg_conf_int(ctl->conf, TG_OPTION_HOLD_LEASE)});
    return class;
}

enum tg_class ctl_open_secrets(struct ctl *ctl)
{
    enum tg_class class;

    if (ctl->has_secrets)
        return TG_OK;
    class = tg_secrets_read(tg_conf_text(ctl->conf, TG_OPTION_SECRETS_CONSOLE_FILE), NULL,
                            &ctl->secrets, &ctl->err);
    ctl->has_secrets = class == TG_OK;
    return class;
}

struct tg_key_seal ctl_seal(const struct ctl *ctl)
{
    return (struct tg_key_seal){ctl->secrets.seal_public, ctl->secrets.key_version,
                                ctl->secrets.token_pepper};
}

bool ctl_other_secrets(struct ctl *ctl, enum tg_class class)
{
    if (class != TG_CLASS_CONFLICT || strcmp(ctl->err.code, "master_key_changed") != 0)
        return false;
    tg_secrets_done(&ctl->secrets);
    ctl->has_secrets = false;
    return ctl_open_secrets(ctl) == TG_OK;
}

void ctl_tell_workers(struct ctl *ctl, const char *what)
{
    const struct tg_span words[] = {
        {"PUBLISH", 7}, {"tg:changed", 10}, {what, strlen(what)}};
    const struct tg_kv_call call = {
        .args = words, .count = 3, .deadline_at_us = tg_now_us() + redis_wait_us};
    const struct tg_kv_reply *reply;
    struct tg_kv *kv = NULL;
    struct tg_error err;
    enum tg_class class = ctl_open_redis(ctl);

    if (class == TG_OK)
        class = tg_kv_acquire(ctl->kv, call.deadline_at_us, &kv, &err);
    if (class == TG_OK)
        class = tg_kv_command(kv, &call, &reply, &err);
    tg_kv_release(kv);
    if (class != TG_OK)
        ctl_remark("Redis could not be told; the workers see the change within %s",
                   tg_conf_shown(ctl->conf, TG_OPTION_SNAPSHOT_INTERVAL));
}

bool ctl_push(struct ctl *ctl, const struct tg_entry *entry)
{
    enum tg_class class = ctl_open_ledger(ctl);
    enum tg_ledger_answer answer;
    struct tg_error err;

    if (class == TG_OK) {
        answer = tg_ledger_settle(ctl->ledger, entry, tg_now_us() + redis_wait_us, &err);
        if (answer == TG_LEDGER_OK || answer == TG_LEDGER_ENDED)
            return true;
    }
    ctl_remark("Redis could not be told yet; tollgate-ledger will");
    return false;
}
