/* body_store - the one copy of a request body: memory first, an unlinked file when it grows.
 *
 * Threads  one owner.  Blocks  on the file's disk.
 */
#ifndef TOLLGATE_BODY_STORE_H
#define TOLLGATE_BODY_STORE_H

#include "common/base/buf.h"
#include "common/base/error.h"

struct tg_body_store {
    size_t memory_most, most; /* bytes in memory, bytes at all */
    const char *folder;
    struct tg_buf memory;
    int fd; /* -1 while it fits into memory */
    size_t len;
    bool too_large;
    int error_number; /* of the file, 0: none */
};

void tg_body_store_init(struct tg_body_store *store, size_t memory_most, size_t most,
                        const char *folder) non_null(1, 4);
void tg_body_store_done(struct tg_body_store *store) non_null(1);
/* False: too_large or error_number is set, and nothing more is taken. Fits as an inflate sink. */
bool tg_body_store_add(void *store, const void *bytes, size_t len) must_check non_null(1, 2);
/* Hands the bytes over: heap memory, or a read-only mapping when *ret_mapped. The bytes in heap
 * memory are NUL-terminated besides. False: error_number. */
bool tg_body_store_take(struct tg_body_store *store, struct tg_span *ret, bool *ret_mapped)
    must_check non_null(1, 2, 3);
void tg_body_release(struct tg_span body, bool mapped);

#endif
