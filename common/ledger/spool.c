#include "common/ledger/spool_line.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ROTATE_BYTES = 16 << 20,
    ROTATE_US = 60000000,
    SYNC_EVERY_US = 1000000,
    PROBE_EVERY_US = 1000000,
    PROBE_BYTES = 4096 /* a whole block: room left in the last one proves nothing */
};

struct tg_spool {
    char folder[400];
    char node[64];
    int64_t worker;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t stopping_changed;
    int fd;
    char path[512];
    int64_t sequence;
    int64_t opened_at_us;
    int64_t size_bytes, lines;
    atomic_bool healthy; /* read without the mutex, once a request */
    int64_t failed_at_us;
    bool syncs;         /* a thread syncs once a second */
    bool dirty;
    bool stopping;
    pthread_t sync_thread;
};

static enum tg_class disk_failed(struct tg_error *err, const char *what, const char *path)
{
    return tg_fail(err, TG_CLASS_OVERLOAD, "spool", "%s %s: %s", what, path, strerror(errno));
}

/* One write; what a full disk cut off stays as a torn line, which the next line's newline ends. */
static enum tg_class write_once(struct tg_spool *spool, const char *bytes, size_t len,
                                struct tg_error *err)
{
    ssize_t written = write(spool->fd, bytes, len);

    if (written > 0) {
        spool->size_bytes += written;
        spool->dirty = true;
    }
    spool->healthy = written == (ssize_t)len;
    if (spool->healthy)
        return TG_OK;
    spool->failed_at_us = tg_now_us();
    if (written >= 0)
        errno = ENOSPC;
    return disk_failed(err, "cannot write to", spool->path);
}

/* A file without its mark tells less, and loses nothing. */
static void mark(struct tg_spool *spool, const char *word)
{
    struct tg_buf line;

    tg_buf_init(&line, 0);
    tg_spool_line_mark(word, &line);
    tg_spool_line_set_number(line.data + 1, spool->lines);
    (void)!write_once(spool, line.data, line.len, NULL);
    tg_buf_done(&line);
}

/* Opens the next file. It gets its name only when its lock is held: a reader must never take a
 * file that is about to be written for one whose writer is dead. */
static enum tg_class open_next(struct tg_spool *spool, struct tg_error *err)
{
    char path[sizeof spool->path], hidden[sizeof spool->path + 8];
    int fd;

    snprintf(path, sizeof path, "%s/%s.%" PRId64 ".%" PRId64 ".spool", spool->folder, spool->node,
             spool->worker, spool->sequence + 1);
    snprintf(hidden, sizeof hidden, "%s.new", path);
    fd = open(hidden, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0)
        return disk_failed(err, "cannot create", hidden);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || rename(hidden, path) != 0) {
        enum tg_class class = disk_failed(err, "cannot lock or name", hidden);

        close(fd);
        return class;
    }
    if (spool->fd >= 0) {
        mark(spool, "next");
        close(spool->fd);
    }
    spool->fd = fd;
    memcpy(spool->path, path, sizeof path);
    spool->sequence++;
    spool->opened_at_us = tg_now_us();
    spool->size_bytes = spool->lines = 0;
    return TG_OK;
}

static void *sync_loop(void *context)
{
    struct tg_spool *spool = context;

    pthread_mutex_lock(&spool->mutex);
    while (!spool->stopping) {
        int64_t next_us = tg_now_us() + SYNC_EVERY_US;
        const struct timespec until = {.tv_sec = next_us / 1000000,
                                       .tv_nsec = next_us % 1000000 * 1000};
        int fd;

        pthread_cond_timedwait(&spool->stopping_changed, &spool->mutex, &until);
        if (!spool->dirty)
            continue;
        spool->dirty = false;
        fd = dup(spool->fd); /* a rotation may close the other one meanwhile */
        pthread_mutex_unlock(&spool->mutex);
        if (fd >= 0) {
            fdatasync(fd);
            close(fd);
        }
        pthread_mutex_lock(&spool->mutex);
    }
    pthread_mutex_unlock(&spool->mutex);
    return NULL;
}

static void init_locks(struct tg_spool *spool)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&spool->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&spool->stopping_changed, &clock);
    pthread_condattr_destroy(&clock);
}

enum tg_class tg_spool_open(const struct tg_spool_conf *conf, struct tg_spool **ret,
                            struct tg_error *err)
{
    struct tg_spool *spool;
    enum tg_class class;

    if (strlen(conf->folder) >= sizeof spool->folder || strlen(conf->node) >= sizeof spool->node ||
        conf->node[0] == '\0' || strchr(conf->node, '/') != NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "spool", "the spool's folder or node name is unfit");
    if (mkdir(conf->folder, 0750) != 0 && errno != EEXIST)
        return disk_failed(err, "cannot create", conf->folder);
    spool = tg_calloc(1, sizeof *spool);
    snprintf(spool->folder, sizeof spool->folder, "%s", conf->folder);
    snprintf(spool->node, sizeof spool->node, "%s", conf->node);
    spool->worker = conf->worker;
    spool->fd = -1;
    spool->healthy = true;
    init_locks(spool);
    class = open_next(spool, err);
    if (class == TG_OK && conf->sync_every_second) {
        spool->syncs = pthread_create(&spool->sync_thread, NULL, sync_loop, spool) == 0;
        if (!spool->syncs)
            class = tg_fail(err, TG_CLASS_OVERLOAD, "spool", "no thread to sync the spool");
    }
    if (class == TG_OK)
        *ret = spool;
    else
        tg_spool_close(spool);
    return class;
}

static bool is_worn(const struct tg_spool *spool)
{
    return spool->size_bytes >= ROTATE_BYTES ||
           (spool->size_bytes > 0 && tg_now_us() - spool->opened_at_us >= ROTATE_US);
}

static enum tg_class append_line(struct tg_spool *spool, struct tg_buf *line,
                                 struct tg_error *err)
{
    enum tg_class class;

    pthread_mutex_lock(&spool->mutex);
    if (is_worn(spool) && open_next(spool, err) != TG_OK)
        tg_log_error(TG_LOG_WARNING, "spool", err); /* the old one goes on */
    tg_spool_line_set_number(line->data + 1, spool->lines + 1);
    class = write_once(spool, line->data, line->len, err);
    spool->lines += class == TG_OK;
    pthread_mutex_unlock(&spool->mutex);
    return class;
}

enum tg_class tg_spool_append(struct tg_spool *spool, const struct tg_entry *entry,
                              struct tg_error *err)
{
    struct tg_error own = {.class = TG_OK};
    struct tg_buf line;
    enum tg_class class;

    err = err != NULL ? err : &own;
    tg_buf_init(&line, TG_SPOOL_LINE_MOST + 64);
    if (tg_spool_line_format(entry, &line))
        class = append_line(spool, &line, err);
    else
        class = tg_fail(err, TG_CLASS_INTERNAL, "spool_line", "an entry is too long to be kept");
    tg_buf_done(&line);
    return class;
}

/* While unhealthy nobody may have anything to append: blank lines try the disk, once a second. */
bool tg_spool_is_healthy(struct tg_spool *spool)
{
    char blank[PROBE_BYTES];
    bool healthy;

    if (spool->healthy)
        return true;
    pthread_mutex_lock(&spool->mutex);
    if (!spool->healthy && tg_now_us() - spool->failed_at_us >= PROBE_EVERY_US) {
        memset(blank, '\n', sizeof blank);
        if (write_once(spool, blank, sizeof blank, NULL) == TG_OK)
            tg_log(TG_LOG_INFO, "spool", "%s can be written again", spool->path);
    }
    healthy = spool->healthy;
    pthread_mutex_unlock(&spool->mutex);
    return healthy;
}

void tg_spool_end(struct tg_spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    mark(spool, "last");
    pthread_mutex_unlock(&spool->mutex);
}

void tg_spool_close(struct tg_spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->syncs) {
        pthread_mutex_lock(&spool->mutex);
        spool->stopping = true;
        pthread_cond_signal(&spool->stopping_changed);
        pthread_mutex_unlock(&spool->mutex);
        pthread_join(spool->sync_thread, NULL);
    }
    if (spool->fd >= 0) {
        if (spool->size_bytes == 0)
            unlink(spool->path);
        close(spool->fd);
    }
    pthread_mutex_destroy(&spool->mutex);
    pthread_cond_destroy(&spool->stopping_changed);
    free(spool);
}
