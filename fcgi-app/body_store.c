#include "fcgi-app/body_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void tg_body_store_init(struct tg_body_store *store, size_t memory_most, size_t most,
                        const char *folder)
{
    *store = (struct tg_body_store){
        .memory_most = memory_most, .most = most, .folder = folder, .fd = -1};
}

void tg_body_store_done(struct tg_body_store *store)
{
    tg_buf_done(&store->memory);
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
}

static bool write_all(struct tg_body_store *store, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(store->fd, bytes, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            store->error_number = errno;
            return false;
        }
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

/* A file that has no name from the start; where the file system cannot do that, it is unlinked
 * before anything is written. */
static bool open_file(struct tg_body_store *store)
{
    char name[512];

    store->fd = open(store->folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (store->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        snprintf(name, sizeof name, "%s/tollgate-body-XXXXXX", store->folder);
        store->fd = mkostemp(name, O_CLOEXEC);
        if (store->fd >= 0)
            (void)unlink(name);
    }
    if (store->fd < 0)
        store->error_number = errno;
    return store->fd >= 0;
}

bool tg_body_store_add(void *context, const void *bytes, size_t len)
{
    struct tg_body_store *store = context;

    if (store->too_large || store->error_number != 0)
        return false;
    if (len > store->most - store->len) {
        store->too_large = true;
        return false;
    }
    if (store->fd < 0 && store->len + len <= store->memory_most) {
        tg_buf_add(&store->memory, bytes, len);
        store->len += len;
        return true;
    }
    if (store->fd < 0) {
        if (!open_file(store) || !write_all(store, tg_buf_text(&store->memory), store->memory.len))
            return false;
        tg_buf_done(&store->memory);
    }
    if (!write_all(store, bytes, len))
        return false;
    store->len += len;
    return true;
}

bool tg_body_store_take(struct tg_body_store *store, struct tg_span *ret, bool *ret_mapped)
{
    if (store->fd >= 0) {
        void *map = mmap(NULL, store->len, PROT_READ, MAP_PRIVATE, store->fd, 0);

        if (map == MAP_FAILED) {
            store->error_number = errno;
            return false;
        }
        *ret = (struct tg_span){map, store->len};
        *ret_mapped = true;
        return true;
    }
    *ret = (struct tg_span){store->memory.data, store->memory.len};
    *ret_mapped = false;
    store->memory = (struct tg_buf){0};
    return true;
}

void tg_body_release(struct tg_span body, bool mapped)
{
    if (mapped)
        (void)munmap((void *)(uintptr_t)body.ptr, body.len);
    else
        free((void *)(uintptr_t)body.ptr);
}
