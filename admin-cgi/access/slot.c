#include "admin-cgi/access/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/clock.h"

static const int64_t wait_us = 5000000, pause_us = 10000;
static const char *const files[] = {"layout", "login", "error", "form"};

/* One of them, or -1; *ret_missing when a file is not there. */
static int try_all(struct tg_arena *arena, const char *folder, const char **ret_missing)
{
    for (size_t i = 0; i < TG_COUNT_OF(files); i++) {
        const char *path = tg_arena_printf(arena, "%s/%s.html", folder, files[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0) {
            *ret_missing = path;
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

enum tg_class access_slot_enter(struct tg_arena *arena, const char *folder, int *ret_fd,
                                struct tg_error *err)
{
    int64_t until_us = tg_now_us() + wait_us;
    const char *missing = NULL;

    for (;;) {
        *ret_fd = try_all(arena, folder, &missing);
        if (*ret_fd >= 0)
            return TG_OK;
        if (missing != NULL)
            return tg_fail(err, TG_CLASS_CONFIG, "template", "%s: %s", missing, strerror(errno));
        if (tg_now_us() >= until_us)
            return tg_fail(err, TG_CLASS_OVERLOAD, "login_busy",
                           "too many people log in at this moment; try again");
        tg_clock_sleep_us(pause_us);
    }
}

void access_slot_leave(int fd)
{
    close(fd); /* the lock goes with it */
}
