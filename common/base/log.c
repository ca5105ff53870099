#include "common/base/log.h"

#include "common/base/clock.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

static struct {
    int fd;
    enum tg_log_level least;
    char program[32];
} sink = {.fd = STDERR_FILENO, .least = TG_LOG_INFO, .program = "tollgate"};

enum tg_class tg_log_open(const char *program, const char *path, enum tg_log_level least,
                          struct tg_error *err)
{
    int fd = STDERR_FILENO, old = sink.fd;

    if (path != NULL && path[0] != '\0') {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
        if (fd < 0)
            return tg_fail(err, TG_CLASS_CONFIG, "log_open", "cannot open the log file %s: %m",
                           path);
    }
    snprintf(sink.program, sizeof sink.program, "%s", program);
    sink.least = least;
    if (fd != STDERR_FILENO && old != STDERR_FILENO) {
        dup3(fd, old, O_CLOEXEC); /* writers in other threads keep a valid descriptor */
        close(fd);
    } else {
        sink.fd = fd;
    }
    return TG_OK;
}

/* Control characters would let a client forge lines. */
static size_t escape(char *out, size_t room, const char *text)
{
    size_t len = 0;

    for (; *text != '\0' && len + 5 < room; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            len += (size_t)snprintf(out + len, room - len, "\\x%02x", c);
        else
            out[len++] = (char)c;
    }
    return len;
}

void tg_log(enum tg_log_level level, const char *word, const char *format, ...)
{
    char text[2000], line[2200], when[TG_TIME_TEXT];
    va_list args;
    size_t len;

    if (level < sink.least)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tg_time_format(tg_unix_us(), when);
    len = (size_t)snprintf(line, sizeof line, "%s %s %s[%d]: %s: ", when, level_names[level],
                           sink.program, (int)getpid(), word);
    len += escape(line + len, sizeof line - len - 1, text);
    line[len++] = '\n';
    if (write(sink.fd, line, len) < 0)
        return; /* nowhere left to tell */
}

void tg_log_error(enum tg_log_level level, const char *word, const struct tg_error *err)
{
    tg_log(level, word, "%s (%s): %s", err->code, tg_class_name(err->class), err->message);
}

bool tg_log_level_parse(const char *text, enum tg_log_level *ret)
{
    for (size_t i = 0; i < TG_COUNT_OF(level_names); i++)
        if (strcasecmp(text, level_names[i]) == 0) {
            *ret = (enum tg_log_level)i;
            return true;
        }
    return false;
}
