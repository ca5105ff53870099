#include "fcgi-app/daemon/daemon.h"
#include "fcgi-app/daemon/once.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/store/doubt.h"
#include "common/store/idempotency.h"
#include "common/store/lease.h"
#include "common/store/ledger_day.h"
#include "common/store/log_batch.h"
#include "common/store/node.h"
#include "common/store/partition.h"

enum {
    PAUSE_US = 10000000,          /* the node's row */
    HOUSE_EVERY_SECONDS = 3600,
    DAYS_AHEAD = 7,
    MONTHS_AHEAD = 2
};

struct worker {
    struct daemon *daemon;
    int64_t kept_at_us;
};

static enum tg_class keep_main(struct tg_db *db, struct tg_error *err)
{
    int days = 0;
    enum tg_class class = tg_store_entry_partitions_ensure(db, tg_unix_us(), DAYS_AHEAD, err);

    if (class == TG_OK)
        class = tg_ledger_day_fold(db, tg_unix_us(), TG_LEDGER_DAYS_KEPT, &days, err);
    if (class == TG_OK)
        class = tg_idempotent_trim(db, err);
    if (class == TG_OK)
        class = tg_doubt_trim(db, err);
    if (days > 0)
        tg_log(TG_LOG_INFO, "jobs", "%d days of entries were folded into ledger_day", days);
    return class;
}

static enum tg_class keep_log(struct daemon *daemon, struct daemon_links *links,
                              struct tg_error *err)
{
    int months = (int)tg_conf_int(daemon->conf, TG_OPTION_RECORDS_KEEP_MONTHS);
    enum tg_class class =
        tg_store_log_partitions_ensure(links->log_db, tg_unix_us(), MONTHS_AHEAD, err);

    if (class == TG_OK)
        class = tg_store_log_partitions_drop(links->log_db, tg_unix_us(), months, err);
    if (class == TG_OK)
        class = tg_log_applied_trim(links->main_db, links->log_db, err);
    return class;
}

static enum tg_class keep_house(struct worker *worker, struct daemon_links *links,
                                struct tg_error *err)
{
    bool mine = false;
    struct tg_lease lease = {.name = "housekeeping",
                             .node = worker->daemon->node,
                             .seconds = HOUSE_EVERY_SECONDS};
    enum tg_class class = tg_lease_take(links->main_db, &lease, &mine, err);

    if (class == TG_OK && mine)
        class = keep_main(links->main_db, err);
    if (class == TG_OK && mine)
        class = keep_log(worker->daemon, links, err);
    if (class == TG_OK)
        worker->kept_at_us = tg_now_us();
    return class;
}

static enum tg_class jobs_round(void *context, struct daemon_links *links, int64_t *ret_pause_us,
                                struct tg_error *err)
{
    struct worker *worker = context;
    bool due = worker->kept_at_us == 0 ||
               tg_now_us() - worker->kept_at_us >= (int64_t)HOUSE_EVERY_SECONDS * 1000000;
    enum tg_class class = tg_node_seen(links->main_db, worker->daemon->node, err);

    if (class == TG_OK && due)
        class = keep_house(worker, links, err);
    *ret_pause_us = PAUSE_US;
    return class;
}

void *daemon_jobs_thread(void *context)
{
    struct worker worker = {.daemon = context};

    daemon_loop(worker.daemon, AREA_JOBS, NEED_MAIN | NEED_LOG, jobs_round, &worker);
    return NULL;
}

enum tg_class daemon_jobs_once(struct daemon *daemon, struct daemon_links *links, bool *ret_moved,
                               struct tg_error *err)
{
    struct worker worker = {.daemon = daemon};
    int64_t pause_us;

    *ret_moved = false;
    return jobs_round(&worker, links, &pause_us, err);
}
