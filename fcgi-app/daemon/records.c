#include "fcgi-app/daemon/daemon.h"
#include "fcgi-app/daemon/once.h"

#include "common/store/log_batch.h"

enum { BATCHES = 8, IDLE_PAUSE_US = 200000 };

static enum tg_class records_round(void *context, struct daemon_links *links,
                                   int64_t *ret_pause_us, struct tg_error *err)
{
    size_t moved = 0;
    enum tg_class class =
        tg_log_batch_move(links->main_db, links->log_db, BATCHES, &moved, err);

    (void)context;
    *ret_pause_us = moved == 0 ? IDLE_PAUSE_US : 0;
    return class;
}

void *daemon_records_thread(void *context)
{
    daemon_loop(context, AREA_RECORDS, NEED_MAIN | NEED_LOG, records_round, NULL);
    return NULL;
}

enum tg_class daemon_records_once(struct daemon *daemon, struct daemon_links *links,
                                  bool *ret_moved, struct tg_error *err)
{
    int64_t pause_us = 0;
    enum tg_class class;

    *ret_moved = false;
    for (;;) {
        class = records_round(daemon, links, &pause_us, err);
        if (class != TG_OK || pause_us != 0)
            return class;
        *ret_moved = true;
    }
}
