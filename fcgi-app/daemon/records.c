#include "fcgi-app/daemon/daemon.h"
#include "fcgi-app/daemon/once.h"

#include "common/base/clock.h"
#include "common/store/lease.h"
#include "common/store/log_batch.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    BATCHES = 32,
    IDLE_PAUSE_US = 200000,
    OTHERS_PAUSE_US = 1000000, /* while another node moves them */
    LEASE_SECONDS = 15,
    RENEW_US = 5000000
};

struct worker {
    struct daemon *daemon;
    int64_t leased_at_us;
    bool mine;
};

/* One node is enough: two would do every batch twice, and find so. */
static enum tg_class take_lease(struct worker *worker, struct daemon_links *links,
                                struct tg_error *err)
{
    struct tg_lease lease = {
        .name = "records", .node = worker->daemon->node, .seconds = LEASE_SECONDS};

    if (worker->mine && tg_now_us() - worker->leased_at_us < RENEW_US)
        return TG_OK;
    worker->leased_at_us = tg_now_us();
    return tg_lease_take(links->main_db, &lease, &worker->mine, err);
}

static enum tg_class records_round(void *context, struct daemon_links *links,
                                   int64_t *ret_pause_us, struct tg_error *err)
{
    struct worker *worker = context;
    size_t moved = 0;
    enum tg_class class = take_lease(worker, links, err);

    if (class == TG_OK && worker->mine)
        class = tg_log_batch_move(links->main_db, links->log_db, BATCHES, &moved, err);
    *ret_pause_us = !worker->mine ? OTHERS_PAUSE_US : moved == 0 ? IDLE_PAUSE_US : 0;
    return class;
}

/* The log may follow at its own pace; on a machine that is short of processor time requests and the
 * books go first. (A niceness belongs to a thread on Linux.) */
static void step_back(void)
{
    enum { NICENESS = 10 };

    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
}

void *daemon_records_thread(void *context)
{
    struct worker worker = {.daemon = context};

    step_back();
    daemon_loop(context, AREA_RECORDS, NEED_MAIN | NEED_LOG, records_round, &worker);
    return NULL;
}

/* Without the lease: whoever runs this by hand wants it done. */
enum tg_class daemon_records_once(struct daemon *daemon, struct daemon_links *links,
                                  bool *ret_moved, struct tg_error *err)
{
    size_t moved = 1;
    enum tg_class class = TG_OK;

    (void)daemon;
    *ret_moved = false;
    while (class == TG_OK && moved > 0) {
        class = tg_log_batch_move(links->main_db, links->log_db, BATCHES, &moved, err);
        *ret_moved = *ret_moved || moved > 0;
    }
    return class;
}
