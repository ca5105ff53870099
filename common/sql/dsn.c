#include "common/sql/dsn.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies text .. end with %XX decoded; false when it does not fit or is malformed. */
static bool decode(const char *text, const char *end, char *out, size_t room)
{
    size_t len = 0;

    while (text < end) {
        char c = *text++;

        if (c == '%') {
            int high = end - text >= 2 ? hex_digit(text[0]) : -1;
            int low = end - text >= 2 ? hex_digit(text[1]) : -1;

            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high * 16 + low);
            text += 2;
        }
        if (len + 1 >= room)
            return false;
        out[len++] = c;
    }
    out[len] = '\0';
    return true;
}

static bool parse_port(const char *text, const char *end, unsigned *ret)
{
    char *stop;
    unsigned long port = strtoul(text, &stop, 10);

    if (stop != end || text == end || *text < '0' || *text > '9' || port == 0 || port > 65535)
        return false;
    *ret = (unsigned)port;
    return true;
}

/* "db1", "db1:3307", "[::1]:3307" */
static bool parse_host(const char *text, const char *end, struct tg_dsn *dsn)
{
    const char *close = end, *colon;

    if (*text == '[') {
        close = memchr(text, ']', (size_t)(end - text));
        if (close == NULL || !decode(text + 1, close, dsn->host, sizeof dsn->host))
            return false;
        close++;
        return close == end || (*close == ':' && parse_port(close + 1, end, &dsn->port));
    }
    colon = memchr(text, ':', (size_t)(end - text));
    if (colon != NULL) {
        if (!parse_port(colon + 1, end, &dsn->port))
            return false;
        close = colon;
    }
    return close > text && decode(text, close, dsn->host, sizeof dsn->host);
}

static bool parse_schema(const char *text, const char *end, struct tg_dsn *dsn)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$";
    size_t len = (size_t)(end - text);

    if (len == 0 || len >= sizeof dsn->schema)
        return false;
    memcpy(dsn->schema, text, len);
    dsn->schema[len] = '\0';
    return strspn(dsn->schema, allowed) == len;
}

enum tg_class tg_dsn_parse(const char *text, struct tg_dsn *ret, struct tg_error *err)
{
    static const char scheme[] = "mysql://", option[] = "socket=";
    struct tg_dsn dsn = {.port = 0};
    const char *user = text + sizeof scheme - 1, *at, *slash, *question, *end;

    if (strncmp(text, scheme, sizeof scheme - 1) != 0)
        goto malformed;
    slash = strchr(user, '/');
    at = strchr(user, '@');
    if (slash == NULL || at == NULL || at > slash || at == user)
        goto malformed;
    if (memchr(user, ':', (size_t)(at - user)) != NULL)
        return tg_fail(err, TG_CLASS_CONFIG, "db_address",
                       "a database address holds no password; use database.*_password_file");
    end = text + strlen(text);
    question = strchr(slash, '?');
    if (!decode(user, at, dsn.user, sizeof dsn.user) || !parse_host(at + 1, slash, &dsn) ||
        !parse_schema(slash + 1, question != NULL ? question : end, &dsn))
        goto malformed;
    if (question != NULL) {
        if (strncmp(question + 1, option, sizeof option - 1) != 0 ||
            !decode(question + sizeof option, end, dsn.socket, sizeof dsn.socket) ||
            dsn.socket[0] != '/')
            goto malformed;
    }
    *ret = dsn;
    return TG_OK;

malformed:
    return tg_fail(err, TG_CLASS_CONFIG, "db_address",
                   "a database address is mysql://USER@HOST[:PORT]/NAME[?socket=/PATH]");
}
