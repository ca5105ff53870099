/* process - the master and its workers: who forks, who listens, who tells whom to stop.
 *
 * The master makes the listening socket and the shared memory, forks the workers and replaces
 * dead ones; it holds no thread, no connection and no request. SIGTERM and SIGINT drain and end,
 * SIGHUP reads the conf again and opens the log again, in master and workers. A worker asks the
 * kernel for SIGTERM when the master dies.
 *
 * Threads  the main thread of each process.  Blocks  until the process is to end.
 */
#ifndef TOLLGATE_PROCESS_H
#define TOLLGATE_PROCESS_H

#include "common/conf/conf.h"

struct tg_encoders;
struct tg_shared;

/* What a worker is born with. */
struct tg_birth {
    const char *conf_path;
    struct tg_conf *conf; /* the worker's to keep */
    struct tg_shared *shared;
    const struct tg_encoders *encoders;
    int index;
    int listen_fd;
    int ready_fd; /* one byte is written when requests are accepted */
};

/* Both return the exit status. The conf becomes the master's. */
int tg_master_run(const char *conf_path, struct tg_conf *conf) must_check non_null(1, 2);
int tg_worker_run(const struct tg_birth *birth) must_check non_null(1);

/* The log as the conf says. */
enum tg_class tg_process_open_log(const struct tg_conf *conf, struct tg_error *err) must_check
    non_null(1);

#endif
