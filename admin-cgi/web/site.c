#include "admin-cgi/web/site.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"

enum { CONNECTIONS = 2 }; /* the ledger takes one of its own beside the page's */

static const char *data_folder(struct tg_arena *arena, const char *name)
{
    const char *folder = getenv("TOLLGATE_DATADIR");

    return tg_arena_printf(arena, "%s/%s",
                           folder != NULL && *folder != '\0' ? folder : TG_PKGDATADIR, name);
}

enum tg_class web_site_open(struct web_site *site, struct tg_error *err)
{
    enum tg_class class;

    *site = (struct web_site){.arena = tg_arena_new()};
    class = tg_crypto_init(err);
    if (class == TG_OK)
        class = tg_conf_load(tg_conf_default_path(), NULL, 0, &site->conf, err);
    if (class == TG_OK)
        class = tg_secrets_read(tg_conf_text(site->conf, TG_OPTION_SECRETS_CONSOLE_FILE), NULL,
                                &site->secrets, err);
    if (class == TG_OK)
        class = tg_cidrs_parse(site->arena,
                               tg_conf_text(site->conf, TG_OPTION_NET_TRUSTED_PROXIES),
                               &site->proxies, &site->proxy_count, err);
    site->templates =
        web_templates_new(site->arena, data_folder(site->arena, "admin-cgi/templates"));
    return class;
}

void web_site_close(struct web_site *site)
{
    tg_ledger_free(site->ledger);
    tg_db_pool_free(site->main_pool);
    tg_db_pool_free(site->log_pool);
    tg_kv_pool_free(site->kv);
    tg_secrets_done(&site->secrets);
    tg_conf_free(site->conf);
    tg_arena_free(site->arena);
}

static enum tg_class acquire(struct web_site *site, bool log, struct tg_db **ret,
                             struct tg_error *err)
{
    struct tg_db_pool **pool = log ? &site->log_pool : &site->main_pool;
    enum tg_option_id dsn = log ? TG_OPTION_DATABASE_LOG : TG_OPTION_DATABASE_MAIN;
    enum tg_option_id file =
        log ? TG_OPTION_DATABASE_LOG_PASSWORD_FILE : TG_OPTION_DATABASE_MAIN_PASSWORD_FILE;
    struct tg_db_conf conf = {.dsn = tg_conf_text(site->conf, dsn),
                              .connections = CONNECTIONS,
                              .timeout_us = tg_conf_int(site->conf, TG_OPTION_DATABASE_TIMEOUT)};
    struct tg_buf password;
    enum tg_class class = TG_OK;

    tg_buf_init(&password, 0);
    if (*pool == NULL) {
        class = tg_conf_password(tg_conf_text(site->conf, file), &password, err);
        conf.password = tg_buf_text(&password);
        if (class == TG_OK)
            class = tg_db_pool_new(&conf, pool, err);
    }
    if (class == TG_OK)
        class = tg_db_acquire(*pool, tg_now_us() + conf.timeout_us, ret, err);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

enum tg_class web_site_main(struct web_site *site, struct tg_db **ret, struct tg_error *err)
{
    return acquire(site, false, ret, err);
}

enum tg_class web_site_log(struct web_site *site, struct tg_db **ret, struct tg_error *err)
{
    return acquire(site, true, ret, err);
}

enum tg_class web_site_kv(struct web_site *site, struct tg_error *err)
{
    struct tg_kv_conf conf = {.address = tg_conf_text(site->conf, TG_OPTION_REDIS_ADDRESS),
                              .user = tg_conf_text(site->conf, TG_OPTION_REDIS_USER),
                              .connections = CONNECTIONS};
    struct tg_buf password;
    enum tg_class class;

    if (site->kv != NULL)
        return TG_OK;
    tg_buf_init(&password, 0);
    class = tg_conf_password(tg_conf_text(site->conf, TG_OPTION_REDIS_PASSWORD_FILE), &password,
                             err);
    conf.password = tg_buf_text(&password);
    if (class == TG_OK)
        class = tg_kv_pool_new(&conf, &site->kv, err);
    if (password.len > 0)
        tg_wipe(password.data, password.len);
    tg_buf_done(&password);
    return class;
}

enum tg_class web_site_ledger(struct web_site *site, struct tg_error *err)
{
    static const char node[] = "console"; /* takes no deposits, so it never holds any */
    enum tg_class class = web_site_kv(site, err);

    tg_assert(site->main_pool != NULL);
    if (class == TG_OK && site->ledger == NULL)
        site->ledger = tg_ledger_new(
            &(struct tg_ledger_conf){.kv = site->kv,
                                     .main_db = site->main_pool,
                                     .node = node,
                                     .lease_us = tg_conf_int(site->conf, TG_OPTION_HOLD_LEASE)});
    return class;
}
