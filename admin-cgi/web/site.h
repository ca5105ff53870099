/* site - what the console's programs share between requests: settings, secrets, stores, templates.
 *
 * Reads tollgate.conf and console.secrets only; never the file with the private key.
 *
 * Errors   TG_CLASS_CONFIG; TG_CLASS_DOWN "db_down", "kv_down".
 * Threads  one.  Blocks  on files and stores.
 */
#ifndef TOLLGATE_WEB_SITE_H
#define TOLLGATE_WEB_SITE_H

#include "admin-cgi/web/template.h"
#include "common/conf/conf.h"
#include "common/conf/units.h"
#include "common/crypto/secrets.h"
#include "common/ledger/ledger.h"

struct web_site {
    struct tg_arena *arena; /* as long as the process */
    struct tg_conf *conf;
    struct tg_secrets secrets;
    struct tg_cidr *proxies;
    size_t proxy_count;
    struct tg_db_pool *main_pool, *log_pool;
    struct tg_kv_pool *kv;
    struct tg_ledger *ledger;
    struct web_templates *templates;
};

enum tg_class web_site_open(struct web_site *site, struct tg_error *err) must_check non_null(1, 2);
void web_site_close(struct web_site *site) non_null(1);

/* Connections are made on first use. The caller releases what it acquires. */
enum tg_class web_site_main(struct web_site *site, struct tg_db **ret, struct tg_error *err)
    must_check non_null(1, 2, 3);
enum tg_class web_site_log(struct web_site *site, struct tg_db **ret, struct tg_error *err)
    must_check non_null(1, 2, 3);
enum tg_class web_site_kv(struct web_site *site, struct tg_error *err) must_check non_null(1, 2);
enum tg_class web_site_ledger(struct web_site *site, struct tg_error *err) must_check
    non_null(1, 2);

#endif
