/* Ways of giving a secret. Never in argv: every user of the machine can read that. */
#include "admin-cgi/ctl/ctl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { SECRET_LIMIT = 8192 };

/* One line without its end; false at the end of the file, or when it is too long. */
static bool read_line(FILE *file, struct tg_buf *ret)
{
    char line[SECRET_LIMIT + 2];
    bool got = fgets(line, sizeof line, file) != NULL;
    size_t len = got ? strcspn(line, "\r\n") : 0;

    if (got && line[len] == '\0' && len > SECRET_LIMIT)
        got = false;
    if (got)
        tg_buf_add(ret, line, len);
    explicit_bzero(line, sizeof line);
    return got;
}

static void interrupted(int number)
{
    (void)number; /* ends the read; the terminal is put right before anything else happens */
}

static bool ask(FILE *terminal, const char *question, struct tg_buf *ret)
{
    struct sigaction stop = {.sa_handler = interrupted}, before_int, before_term;
    struct termios before, quiet;
    int fd = fileno(terminal);
    bool got, echo = tcgetattr(fd, &before) == 0;

    fprintf(terminal, "%s: ", question);
    fflush(terminal);
    sigaction(SIGINT, &stop, &before_int);
    sigaction(SIGTERM, &stop, &before_term);
    if (echo) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(fd, TCSAFLUSH, &quiet);
    }
    got = read_line(terminal, ret);
    if (echo)
        tcsetattr(fd, TCSAFLUSH, &before);
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    fputc('\n', terminal);
    return got;
}

/* A new password is asked for twice: nobody sees a slip of the finger. */
static enum tg_class ask_on_terminal(struct ctl *ctl, const char *what, struct tg_buf *ret)
{
    FILE *terminal = isatty(STDIN_FILENO) ? fopen("/dev/tty", "r+e") : NULL;
    struct tg_buf again;
    enum tg_class class = TG_OK;

    if (terminal == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "give the %s by --%s-stdin, --%s-file or the environment", what, what, what);
    setvbuf(terminal, NULL, _IONBF, 0);
    tg_buf_init(&again, 0);
    if (!ask(terminal, what, ret))
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "no %s was given", what);
    else if (strcmp(what, "password") == 0 &&
             (!ask(terminal, "again", &again) ||
              strcmp(tg_buf_text(ret), tg_buf_text(&again)) != 0))
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "the two are not the same");
    if (again.len > 0)
        explicit_bzero(again.data, again.len);
    tg_buf_done(&again);
    fclose(terminal);
    return class;
}

enum tg_class ctl_secret(struct ctl *ctl, const struct ctl_args *args, const char *what,
                         struct tg_buf *ret)
{
    const char *from_stdin = tg_arena_printf(ctl->arena, "--%s-stdin", what);
    const char *from_file = tg_arena_printf(ctl->arena, "--%s-file", what);
    const char *name = strcmp(what, "password") == 0 ? "TOLLGATE_PASSWORD" : "TOLLGATE_CHANNEL_KEY";
    const char *file = ctl_option(args, from_file), *environment = getenv(name);
    enum tg_class class = TG_OK;

    tg_buf_init(ret, 0);
    if (ctl_option(args, from_stdin) != NULL) {
        if (!read_line(stdin, ret))
            class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "standard input gave no %s",
                            what);
    } else if (file != NULL) {
        class = tg_conf_password(file, ret, &ctl->err);
    } else if (environment != NULL) {
        tg_buf_str(ret, environment);
    } else {
        class = ask_on_terminal(ctl, what, ret);
    }
    if (class == TG_OK && ret->len == 0)
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "the %s is empty", what);
    return class;
}

static void add_item(struct ctl_secret_list *list, const char *text, size_t len)
{
    tg_buf_add(&list->text, text, len);
    tg_buf_add(&list->text, "", 1);
    list->count++;
}

static void point_at_items(struct ctl *ctl, struct ctl_secret_list *list)
{
    const char *at = tg_buf_text(&list->text);

    list->items = tg_arena_calloc(ctl->arena, list->count, sizeof *list->items);
    for (size_t i = 0; i < list->count; i++, at += strlen(at) + 1)
        list->items[i] = at;
}

enum tg_class ctl_secret_lines(struct ctl *ctl, const struct ctl_args *args, const char *what,
                               struct ctl_secret_list *ret)
{
    struct tg_buf one;
    enum tg_class class = TG_OK;

    ret->count = 0;
    tg_buf_init(&ret->text, 0);
    if (ctl_option(args, tg_arena_printf(ctl->arena, "--%s-stdin", what)) == NULL) {
        class = ctl_secret(ctl, args, what, &one);
        if (class == TG_OK)
            add_item(ret, one.data, one.len);
    } else {
        tg_buf_init(&one, 0);
        while (read_line(stdin, &one)) {
            if (one.len > 0)
                add_item(ret, one.data, one.len);
            tg_buf_reset(&one);
        }
        if (!feof(stdin))
            class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "a line is too long for a %s",
                            what);
    }
    if (one.data != NULL)
        explicit_bzero(one.data, one.cap);
    tg_buf_done(&one);
    point_at_items(ctl, ret);
    return class;
}

void ctl_secret_list_done(struct ctl_secret_list *list)
{
    if (list->text.data != NULL)
        explicit_bzero(list->text.data, list->text.cap);
    tg_buf_done(&list->text);
}
