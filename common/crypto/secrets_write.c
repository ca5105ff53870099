/* Making and changing the two files. */
#include "common/crypto/secrets.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 4096, KEY_HEX = 2 * TG_KEY_BYTES + 1, PATH_BYTES = 4096 };

static const char private_comment[] =
    "# Tollgate: opens the stored channel keys. For workers and the daemon only.\n";
static const char console_comment[] = "# Tollgate: what the console and the workers share.\n";

static bool write_all(int fd, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        ssize_t put = write(fd, text, len);

        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            text += put;
            len -= (size_t)put;
        }
    }
    return true;
}

/* A name of its own in the same folder first, then link(2): the file appears whole, and never in
 * the place of another. */
static enum tg_class create_file(const char *path, const char *text, struct tg_error *err)
{
    enum tg_class class = TG_OK;
    struct tg_buf draft;
    int fd;

    tg_buf_init(&draft, 0);
    tg_buf_printf(&draft, "%s.%ld", path, (long)getpid());
    fd = open(draft.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        class = tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path, strerror(errno));
        goto out;
    }
    if (!write_all(fd, text) || fchmod(fd, 0640) != 0 || fsync(fd) != 0)
        class = tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path, strerror(errno));
    else if (link(draft.data, path) != 0)
        class = errno == EEXIST
                    ? tg_fail(err, TG_CLASS_CONFLICT, "secrets_exist", "%s exists already", path)
                    : tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path,
                              strerror(errno));
    close(fd);
    unlink(draft.data);
out:
    tg_buf_done(&draft);
    return class;
}

static void add_key(struct tg_buf *text, const char *name, const uint8_t key[TG_KEY_BYTES])
{
    char hex[KEY_HEX];

    tg_hex(key, TG_KEY_BYTES, hex);
    tg_buf_printf(text, "%s = %s\n", name, hex);
    tg_wipe(hex, sizeof hex);
}

static void add_new_key(struct tg_buf *text, const char *name)
{
    uint8_t key[TG_KEY_BYTES];

    tg_random(key, sizeof key);
    add_key(text, name, key);
    tg_wipe(key, sizeof key);
}

/* Room from the start: a buffer that grows would leave copies of secrets behind. */
static void begin_text(struct tg_buf *text, const char *comment, int version)
{
    *text = (struct tg_buf){.data = tg_malloc(FILE_LIMIT_BYTES),
                            .cap = FILE_LIMIT_BYTES,
                            .limit_bytes = FILE_LIMIT_BYTES - 1};
    tg_buf_str(text, comment);
    tg_buf_printf(text,
                  "# Keep a copy in a safe place; it is the same on every node.\n"
                  "key_version = %d\n",
                  version);
}

static void end_text(struct tg_buf *text)
{
    tg_wipe(text->data, text->cap);
    tg_buf_done(text);
}

enum tg_class tg_secrets_create(const char *console_path, const char *private_path,
                                struct tg_error *err)
{
    uint8_t public_key[TG_KEY_BYTES], secret_key[TG_KEY_BYTES];
    struct tg_buf console, private;
    enum tg_class class;

    tg_seal_keypair(public_key, secret_key);
    begin_text(&private, private_comment, 1);
    add_key(&private, "seal_private", secret_key);
    begin_text(&console, console_comment, 1);
    add_key(&console, "seal_public", public_key);
    add_new_key(&console, "token_pepper");
    add_new_key(&console, "session_key");
    add_new_key(&console, "internal_key");
    class = create_file(private_path, private.data, err);
    if (class == TG_OK) {
        class = create_file(console_path, console.data, err);
        if (class != TG_OK)
            unlink(private_path); /* ours, of a moment ago: half a pair is of no use */
    }
    tg_wipe(secret_key, sizeof secret_key);
    end_text(&private);
    end_text(&console);
    return class;
}

/* --- another master key -------------------------------------------------------------------- */

static enum tg_class failed(const char *path, struct tg_error *err)
{
    return tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path, strerror(errno));
}

/* The name in the folder is on the disk, not only the file. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_BYTES] = ".";
    int fd;
    bool done;

    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)TG_MAX(slash - path, 1), path);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Owner and mode are those of the file before; until they are set only we may read it. */
static bool fill(int fd, const char *text, const struct stat *before)
{
    return write_all(fd, text) && fchown(fd, before->st_uid, before->st_gid) == 0 &&
           fchmod(fd, before->st_mode & 07777) == 0 && fsync(fd) == 0;
}

/* Whole or not at all; what a killed one has left behind is taken away by the next. */
static enum tg_class replace_file(const char *path, const char *text, struct tg_error *err)
{
    char draft[PATH_BYTES];
    struct stat before;
    bool done;
    int fd;

    if (snprintf(draft, sizeof draft, "%s.new", path) >= (int)sizeof draft ||
        stat(path, &before) != 0)
        return failed(path, err);
    unlink(draft);
    fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return failed(draft, err);
    done = fill(fd, text, &before) && rename(draft, path) == 0 && sync_folder(path);
    if (!done) {
        enum tg_class class = failed(path, err);

        unlink(draft);
        close(fd);
        return class;
    }
    close(fd);
    return TG_OK;
}

static enum tg_class replace_private(const char *path, int version, const uint8_t *key,
                                     const uint8_t *other, struct tg_error *err)
{
    struct tg_buf text;
    enum tg_class class;

    begin_text(&text, private_comment, version);
    add_key(&text, "seal_private", key);
    if (other != NULL) {
        tg_buf_printf(&text, "other_version = %d\n", version + 1);
        add_key(&text, "other_private", other);
    }
    class = replace_file(path, text.data, err);
    end_text(&text);
    return class;
}

enum tg_class tg_secrets_key_add(const char *private_path, const struct tg_secrets *now,
                                 struct tg_error *err)
{
    uint8_t public_key[TG_KEY_BYTES], secret_key[TG_KEY_BYTES];
    enum tg_class class;

    tg_assert(now->has_private && now->other_version == 0);
    if (now->private_version >= TG_KEY_VERSION_MOST)
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_version", "%s: no further version",
                       private_path);
    tg_seal_keypair(public_key, secret_key);
    class = replace_private(private_path, now->private_version, now->seal_private, secret_key, err);
    tg_wipe(secret_key, sizeof secret_key);
    return class;
}

enum tg_class tg_secrets_key_switch(const char *console_path, const struct tg_secrets *now,
                                    struct tg_error *err)
{
    const int version = tg_secrets_newest(now);
    uint8_t public_key[TG_KEY_BYTES];
    struct tg_buf text;
    enum tg_class class;

    tg_assert(now->has_private);
    tg_seal_public_of(tg_secrets_private(now, version), public_key);
    begin_text(&text, console_comment, version);
    add_key(&text, "seal_public", public_key);
    add_key(&text, "token_pepper", now->token_pepper);
    add_key(&text, "session_key", now->session_key);
    add_key(&text, "internal_key", now->internal_key);
    class = replace_file(console_path, text.data, err);
    end_text(&text);
    return class;
}

enum tg_class tg_secrets_key_retire(const char *private_path, const struct tg_secrets *now,
                                    struct tg_error *err)
{
    const int version = tg_secrets_newest(now);

    tg_assert(now->has_private && now->key_version == version);
    return replace_private(private_path, version, tg_secrets_private(now, version), NULL, err);
}

int tg_secrets_newest(const struct tg_secrets *secrets)
{
    return TG_MAX(secrets->private_version, secrets->other_version);
}
