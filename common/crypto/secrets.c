#include "common/crypto/secrets.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 4096 };

/* One line of a file: a key, or the version. */
struct field {
    const char *name;
    uint8_t *key;
    int *number;
    bool optional, seen;
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
    if (*value < '0' || *value > '9' || *end != '\0' || number < 1 || number > TG_KEY_VERSION_MOST)
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
        if (!fields[i].seen && !fields[i].optional)
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

/* Does the version's private key belong to the public one that is sealed with? */
static bool fits(const struct tg_secrets *secrets)
{
    const uint8_t *private = tg_secrets_private(secrets, secrets->key_version);
    uint8_t public_key[TG_KEY_BYTES];

    if (private == NULL)
        return false;
    tg_seal_public_of(private, public_key);
    return tg_equal_constant_time(public_key, secrets->seal_public, TG_KEY_BYTES);
}

static enum tg_class read_private(const char *path, struct tg_secrets *secrets,
                                  struct tg_error *err)
{
    struct field fields[] = {
        {.name = "key_version", .number = &secrets->private_version},
        {.name = "seal_private", .key = secrets->seal_private},
        {.name = "other_version", .number = &secrets->other_version, .optional = true},
        {.name = "other_private", .key = secrets->other_private, .optional = true},
    };
    enum tg_class class = read_fields(path, fields, TG_COUNT_OF(fields), err);

    if (class != TG_OK)
        return class;
    if (fields[2].seen != fields[3].seen || secrets->other_version == secrets->private_version)
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_syntax",
                       "%s: a second key has a version of its own and a value", path);
    if (!fits(secrets))
        return tg_fail(err, TG_CLASS_CONFIG, "secrets_mismatch",
                       "%s: its key does not belong to the public key of the console's file", path);
    secrets->has_private = true;
    return TG_OK;
}

const uint8_t *tg_secrets_private(const struct tg_secrets *secrets, int64_t version)
{
    if (version > 0 && version == secrets->private_version)
        return secrets->seal_private;
    return version > 0 && version == secrets->other_version ? secrets->other_private : NULL;
}

enum tg_class tg_secrets_unseal(const struct tg_secrets *secrets, const struct tg_sealed *sealed,
                                struct tg_buf *ret, struct tg_error *err)
{
    const uint8_t *private = tg_secrets_private(secrets, sealed->version);

    if (private == NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "master_key_unknown",
                       "tollgate.secrets has no master key of version %lld",
                       (long long)sealed->version);
    return tg_unseal(private, sealed->aad, sealed->bytes, ret, err);
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
