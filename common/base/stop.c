#include "common/base/stop.h"

#include "common/base/base.h"

#ifdef TG_SANITIZED
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tg_stop_at(const char *name)
{
    const char *path = getenv("TOLLGATE_STOP");
    char text[64] = "";
    ssize_t got;
    int fd;

    if (path == NULL)
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got > 0 && strcmp(text, name) == 0 && unlink(path) == 0)
        (void)kill(getpid(), SIGKILL);
}
#else
typedef int tg_stop_is_empty; /* a file holds at least one declaration */
#endif
