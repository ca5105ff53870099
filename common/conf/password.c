#include "common/conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PASSWORD_LIMIT_BYTES = 4096 };

/* Reads until the end or a full buffer; -1 on failure. */
static ssize_t read_all(int fd, char *text, size_t room)
{
    size_t len = 0;
    ssize_t got;

    do {
        got = read(fd, text + len, room - len);
        if (got > 0)
            len += (size_t)got;
    } while ((got > 0 && len < room) || (got < 0 && errno == EINTR));
    return got < 0 ? -1 : (ssize_t)len;
}

static enum tg_class check_file(int fd, const char *path, struct tg_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_password", "%s: no regular file", path);
    if ((info.st_mode & S_IRWXO) != 0)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_password_mode",
                       "%s: others may read it (chmod o= %s)", path, path);
    return TG_OK;
}

static enum tg_class read_first_line(int fd, const char *path, struct tg_buf *ret,
                                     struct tg_error *err)
{
    char text[PASSWORD_LIMIT_BYTES];
    ssize_t len = read_all(fd, text, sizeof text);
    enum tg_class class = TG_OK;
    size_t line_len = 0;

    if (len < 0)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_password", "%s: %s", path, strerror(errno));
    while (line_len < (size_t)len && text[line_len] != '\n')
        line_len++;
    if (line_len == sizeof text)
        class = tg_fail(err, TG_CLASS_CONFIG, "conf_password", "%s: first line too long", path);
    else
        tg_buf_add(ret, text, line_len - (line_len > 0 && text[line_len - 1] == '\r'));
    explicit_bzero(text, sizeof text);
    return class;
}

enum tg_class tg_conf_password(const char *path, struct tg_buf *ret, struct tg_error *err)
{
    enum tg_class class;
    int fd;

    if (*path == '\0')
        return TG_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_password", "%s: %s", path, strerror(errno));
    class = check_file(fd, path, err);
    if (class == TG_OK)
        class = read_first_line(fd, path, ret, err);
    close(fd);
    return class;
}
