#include "common/fcgi/memory_file.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int spare = -1;

int tg_memory_file_take(const struct tg_buf *bytes)
{
    int fd = atomic_exchange(&spare, -1);

    if (fd < 0)
        fd = memfd_create("tollgate-params", MFD_CLOEXEC);
    if (fd >= 0 && pwrite(fd, bytes->data, bytes->len, 0) == (ssize_t)bytes->len &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void tg_memory_file_give(int fd)
{
    int none = -1;

    if (!atomic_compare_exchange_strong(&spare, &none, fd))
        close(fd);
}
