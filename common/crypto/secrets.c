#include "common/crypto/secrets.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 4096, KEY_HEX = 2 * TG_KEY_BYTES + 1, KEY_VERSION_MOST = 9999 };

/* One line of a file: a key, or the version. */
struct field {
    const char *name;
    uint8_t *key;
    int *number;
    bool seen;
};

static enum tg_class open_private(const char *path, int *ret, struct tg_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;

    if (fd < 0)
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: no regular file", path);
    }
    if ((info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        close(fd);
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_mode",
                       "%s: too open (chmod 0640 %s)", path, path);
    }
    *ret = fd;
    return TG_OK;
}

/* The whole file into <text>, NUL-terminated. */
static enum tg_class read_text(const char *path, char text[FILE_LIMIT_BYTES], struct tg_error *err)
{
    size_t len = 0;
    ssize_t got;
    int fd = -1;
    enum tg_class class = open_private(path, &fd, err);

    if (class != TG_OK)
        return class;
    do {
        got = read(fd, text + len, FILE_LIMIT_BYTES - len);
        if (got > 0)
            len += (size_t)got;
    } while ((got > 0 && len < FILE_LIMIT_BYTES) || (got < 0 && errno == EINTR));
    close(fd);
    if (got < 0)
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: cannot be read", path);
    if (len == FILE_LIMIT_BYTES || memchr(text, '\0', len) != NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_file", "%s: no secrets file", path);
    text[len] = '\0';
    return TG_OK;
}

static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t\r");
    for (len = strlen(text); len > 0 && strchr(" \t\r", text[len - 1]) != NULL; len--)
        text[len - 1] = '\0';
    return text;
}

static bool take_value(struct field *field, const char *value)
{
    char *end;
    long number;

    field->seen = true;
    if (field->key != NULL)
        return tg_unhex(value, TG_KEY_BYTES, field->key);
    number = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || number < 1 || number > KEY_VERSION_MOST)
        return false;
    *field->number = (int)number;
    return true;
}

/* "name = value", a comment or an empty line. Never says what stands there. */
static const char *take_line(char *line, struct field *fields, size_t count)
{
    char *value = strchr(line, '='), *name;

    if (value != NULL)
        *value++ = '\0';
    name = trim(line);
    if (*name == '#' || (*name == '\0' && value == NULL))
        return NULL;
    if (value == NULL)
        return "no \"name = value\"";
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].seen                          ? "a name that was there before"
                   : take_value(&fields[i], trim(value)) ? NULL
                                                           : "a bad value";
    return "an unknown name";
}

static enum tg_class take_text(const char *path, char *text, struct field *fields, size_t count,
                               struct tg_error *err)
{
    char *rest = text, *line;
    const char *why;

    for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        why = take_line(line, fields, count);
        if (why != NULL)
            return tg_fail(err, TG_CLASS_CONFIG, "secrets_syntax", "%s:%d: %s", path, number, why);
    }
    for (size_t i = 0; i < count; i++)
        if (!fields[i].seen)
            return tg_fail(err, TG_CLASS_CONFIG, "secrets_syntax", "%s: %s is missing", path,
                           fields[i].name);
    return TG_OK;
}

static enum tg_class read_fields(const char *path, struct field *fields, size_t count,
                                 struct tg_error *err)
{
    char text[FILE_LIMIT_BYTES];
    enum tg_class class = read_text(path, text, err);

    if (class == TG_OK)
        class = take_text(path, text, fields, count, err);
    tg_wipe(text, sizeof text);
    return class;
}

static void set_fingerprint(struct tg_secrets *secrets)
{
    uint8_t all[4 * TG_KEY_BYTES + 2];
    char hash[TG_HMAC_HEX];

    memcpy(all, secrets->seal_public, TG_KEY_BYTES);
    memcpy(all + TG_KEY_BYTES, secrets->token_pepper, TG_KEY_BYTES);
    memcpy(all + 2 * TG_KEY_BYTES, secrets->session_key, TG_KEY_BYTES);
    memcpy(all + 3 * TG_KEY_BYTES, secrets->internal_key, TG_KEY_BYTES);
    all[4 * TG_KEY_BYTES] = (uint8_t)(secrets->key_version >> 8);
    all[4 * TG_KEY_BYTES + 1] = (uint8_t)secrets->key_version;
    tg_sha256_hex(all, sizeof all, hash);
    memcpy(secrets->fingerprint, hash, sizeof secrets->fingerprint - 1);
    secrets->fingerprint[sizeof secrets->fingerprint - 1] = '\0';
    tg_wipe(all, sizeof all);
}

static enum tg_class read_console(const char *path, struct tg_secrets *secrets,
                                  struct tg_error *err)
{
    struct field fields[] = {
        {.name = "key_version", .number = &secrets->key_version},
        {.name = "seal_public", .key = secrets->seal_public},
        {.name = "token_pepper", .key = secrets->token_pepper},
        {.name = "session_key", .key = secrets->session_key},
        {.name = "internal_key", .key = secrets->internal_key},
    };
    enum tg_class class = read_fields(path, fields, TG_COUNT_OF(fields), err);

    if (class != TG_OK)
        return class;
    if (!tg_seal_public_ok(secrets->seal_public))
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_syntax", "%s: seal_public is no public key",
                       path);
    set_fingerprint(secrets);
    return TG_OK;
}

static enum tg_class read_private(const char *path, struct tg_secrets *secrets,
                                  struct tg_error *err)
{
    uint8_t public_key[TG_KEY_BYTES];
    int version = 0;
    struct field fields[] = {
        {.name = "key_version", .number = &version},
        {.name = "seal_private", .key = secrets->seal_private},
    };
    enum tg_class class = read_fields(path, fields, TG_COUNT_OF(fields), err);

    if (class != TG_OK)
        return class;
    tg_seal_public_of(secrets->seal_private, public_key);
    if (version != secrets->key_version ||
        !tg_equal_constant_time(public_key, secrets->seal_public, TG_KEY_BYTES))
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_mismatch",
                       "%s: its key does not belong to the public key of the console's file", path);
    secrets->has_private = true;
    return TG_OK;
}

enum tg_class tg_secrets_read(const char *console_path, const char *private_path,
                              struct tg_secrets *ret, struct tg_error *err)
{
    struct tg_secrets secrets = {.has_private = false};
    enum tg_class class = read_console(console_path, &secrets, err);

    if (class == TG_OK && private_path != NULL)
        class = read_private(private_path, &secrets, err);
    if (class == TG_OK)
        *ret = secrets;
    tg_secrets_done(&secrets);
    return class;
}

void tg_secrets_done(struct tg_secrets *secrets)
{
    tg_wipe(secrets, sizeof *secrets);
}

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
static void begin_text(struct tg_buf *text, const char *comment)
{
    *text = (struct tg_buf){.data = tg_malloc(FILE_LIMIT_BYTES),
                            .cap = FILE_LIMIT_BYTES,
                            .limit_bytes = FILE_LIMIT_BYTES - 1};
    tg_buf_str(text, comment);
    tg_buf_str(text, "# Keep a copy in a safe place; it is the same on every node.\n"
                     "key_version = 1\n");
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
    begin_text(&private, "# Tollgate: opens the stored channel keys. For workers and the daemon "
                         "only.\n");
    add_key(&private, "seal_private", secret_key);
    begin_text(&console, "# Tollgate: what the console and the workers share.\n");
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
