/* secrets init, fingerprint, export, import. */
#include "admin-cgi/ctl/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECRETS_LIMIT = 16384, SECRETS_MODE = 0640 };
static const char private_mark[] = "[tollgate.secrets]\n", console_mark[] = "[console.secrets]\n";

static const char *console_path(const struct ctl *ctl)
{
    return tg_conf_text(ctl->conf, TG_OPTION_SECRETS_CONSOLE_FILE);
}

static const char *private_path(const struct ctl *ctl)
{
    return tg_conf_text(ctl->conf, TG_OPTION_SECRETS_FILE);
}

/* Reads what is there now, and tells its fingerprint. */
static enum tg_class put_fingerprint(struct ctl *ctl, bool with_private)
{
    const char *private = with_private ? private_path(ctl) : NULL;
    enum tg_class class = tg_secrets_read(console_path(ctl), private, &ctl->secrets, &ctl->err);

    if (class != TG_OK)
        return class;
    ctl->has_secrets = true;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "fingerprint", ctl->secrets.fingerprint);
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

enum tg_class ctl_cmd_secrets_init(struct ctl *ctl, const struct ctl_args *args)
{
    enum tg_class class = tg_secrets_create(console_path(ctl), private_path(ctl), &ctl->err);

    (void)args;
    return class == TG_OK ? put_fingerprint(ctl, true) : class;
}

enum tg_class ctl_cmd_secrets_fingerprint(struct ctl *ctl, const struct ctl_args *args)
{
    (void)args;
    return put_fingerprint(ctl, false);
}

static enum tg_class copy_file(struct ctl *ctl, const char *path, const char *mark,
                               struct tg_buf *ret)
{
    char bytes[SECRETS_LIMIT];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return tg_fail(&ctl->err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path,
                       got < 0 ? strerror(errno) : "is empty");
    tg_buf_str(ret, mark);
    tg_buf_add(ret, bytes, (size_t)got);
    if (bytes[got - 1] != '\n')
        tg_buf_char(ret, '\n');
    tg_wipe(bytes, sizeof bytes);
    return TG_OK;
}

/* Plain text whatever --json says: it is meant for `secrets import`. */
enum tg_class ctl_cmd_secrets_export(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_buf text;
    enum tg_class class = tg_secrets_read(console_path(ctl), private_path(ctl), &ctl->secrets,
                                          &ctl->err);

    (void)args;
    if (class != TG_OK)
        return class;
    ctl->has_secrets = true;
    tg_buf_init(&text, 0);
    class = copy_file(ctl, private_path(ctl), private_mark, &text);
    if (class == TG_OK)
        class = copy_file(ctl, console_path(ctl), console_mark, &text);
    if (class == TG_OK && fwrite(text.data, 1, text.len, stdout) != text.len)
        class = tg_fail(&ctl->err, TG_CLASS_INTERNAL, "secrets_export", "the output failed");
    if (text.len > 0)
        tg_wipe(text.data, text.len);
    tg_buf_done(&text);
    return class;
}

static enum tg_class write_new(struct ctl *ctl, const char *path, const char *text, size_t len)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, SECRETS_MODE);
    bool whole;

    if (fd < 0)
        return tg_fail(&ctl->err, errno == EEXIST ? TG_CLASS_CONFLICT : TG_CLASS_CONFIG,
                       "secrets_file", "%s: %s", path, strerror(errno));
    whole = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    if (close(fd) == 0 && whole)
        return TG_OK;
    unlink(path);
    return tg_fail(&ctl->err, TG_CLASS_CONFIG, "secrets_file", "%s cannot be written", path);
}

/* Both files or none: what does not read back as a pair is taken away again. */
static enum tg_class write_pair(struct ctl *ctl, const char *text)
{
    const char *first = strstr(text, private_mark), *second = strstr(text, console_mark);
    enum tg_class class;

    if (first == NULL || second == NULL || second < first)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "secrets_import",
                       "this is no output of secrets export");
    first += sizeof private_mark - 1;
    class = write_new(ctl, private_path(ctl), first, (size_t)(second - first));
    if (class != TG_OK)
        return class;
    second += sizeof console_mark - 1;
    class = write_new(ctl, console_path(ctl), second, strlen(second));
    if (class != TG_OK) {
        unlink(private_path(ctl));
        return class;
    }
    class = put_fingerprint(ctl, true);
    if (class != TG_OK) {
        unlink(private_path(ctl));
        unlink(console_path(ctl));
    }
    return class;
}

enum tg_class ctl_cmd_secrets_import(struct ctl *ctl, const struct ctl_args *args)
{
    char text[SECRETS_LIMIT + 1];
    size_t len = fread(text, 1, SECRETS_LIMIT, stdin);
    enum tg_class class;

    (void)args;
    text[len] = '\0';
    class = write_pair(ctl, text);
    tg_wipe(text, sizeof text);
    return class;
}
