/* probe - one real call through a channel, made by a worker: only workers can open its key; or the
 * balance of its account; or a round of either over all channels, which is not waited for.
 *
 * The worker knows the caller by the key that only this installation has, and answers for what is
 * saved by then: it is told which version of the routing tables to wait for.
 *
 * Errors   TG_CLASS_NOT_FOUND "channel_not_found"; TG_CLASS_DOWN "gateway_down", "db_down";
 *          TG_CLASS_TRANSPORT "fcgi_protocol".
 * Threads  any.  Blocks  on the database, and up to a minute on the worker.
 */
#ifndef TOLLGATE_WORKER_PROBE_H
#define TOLLGATE_WORKER_PROBE_H

#include "common/base/buf.h"
#include "common/conf/conf.h"
#include "common/crypto/secrets.h"
#include "common/sql/db.h"

struct worker_probe {
    struct tg_db *main_db;
    const struct tg_conf *conf;
    const struct tg_secrets *secrets;
    int64_t channel_id; /* 0: a round over all */
    bool balance;       /* else a test */
    const char *model; /* NULL or "": the channel's own, or its first */
};
/* <document> gets what the worker says, a JSON object: {"ok":true,"status":200,"ms":812,…}. */
enum tg_class worker_probe(const struct worker_probe *probe, struct tg_buf *document, bool *ret_ok,
                           struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
