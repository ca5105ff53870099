#include "common/http/url.h"

#include "common/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

enum { URL_MOST = 512, HOST_MOST = 253 };

struct host {
    char text[HOST_MOST + 1]; /* without brackets and trailing dot */
    bool literal;             /* `address` is what it means */
    struct tg_address address;
};

static void set_v4(struct host *host, const struct in_addr *v4)
{
    memset(host->address.bytes, 0, 10);
    memset(host->address.bytes + 10, 0xff, 2);
    memcpy(host->address.bytes + 12, v4, 4);
    host->literal = true;
}

static bool is_local_name(const char *name)
{
    size_t len = strlen(name);

    return strcasecmp(name, "localhost") == 0 ||
           (len > 10 && strcasecmp(name + len - 10, ".localhost") == 0);
}

/* A name or digits, <len> bytes of them. */
static bool read_name(const char *from, size_t len, struct host *ret)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.-_";
    struct in_addr v4;

    if (len > 0 && from[len - 1] == '.')
        len--;
    if (len == 0 || len > HOST_MOST || from[0] == '.')
        return false;
    memcpy(ret->text, from, len);
    ret->text[len] = '\0';
    if (strspn(ret->text, letters) != len)
        return false;
    if (inet_aton(ret->text, &v4) != 0) /* reads what getaddrinfo reads */
        set_v4(ret, &v4);
    else if (is_local_name(ret->text))
        set_v4(ret, &(struct in_addr){htonl(INADDR_LOOPBACK)});
    return true;
}

static bool read_v6(const char *from, size_t len, struct host *ret)
{
    if (len == 0 || len > HOST_MOST)
        return false;
    memcpy(ret->text, from, len);
    ret->text[len] = '\0';
    ret->literal = strchr(ret->text, ':') != NULL && tg_address_parse(ret->text, &ret->address);
    return ret->literal;
}

/* ":1" to ":65535", or nothing. */
static bool is_port(const char *text, size_t len)
{
    long port = 0;

    if (len == 0)
        return true;
    if (text[0] != ':' || len < 2 || len > 6)
        return false;
    for (size_t i = 1; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (text[i] - '0');
    }
    return port >= 1 && port <= 65535;
}

/* What stands between "://" and the path. */
static bool read_authority(const char *from, size_t len, struct host *ret)
{
    size_t host_len;

    if (len > 0 && from[0] == '[') {
        const char *close = memchr(from, ']', len);

        return close != NULL && read_v6(from + 1, (size_t)(close - from) - 1, ret) &&
               is_port(close + 1, len - (size_t)(close - from) - 1);
    }
    for (host_len = 0; host_len < len && from[host_len] != ':'; host_len++)
        continue;
    return read_name(from, host_len, ret) && is_port(from + host_len, len - host_len);
}

static bool is_plain(const char *url)
{
    size_t len = strlen(url);

    for (size_t i = 0; i < len; i++)
        if (url[i] <= 0x20 || url[i] >= 0x7f || strchr("\"'<>\\^`{|}#?", url[i]) != NULL)
            return false;
    return len <= URL_MOST;
}

static bool read_url(const char *url, struct host *ret)
{
    size_t scheme = strncasecmp(url, "https://", 8) == 0  ? 8
                    : strncasecmp(url, "http://", 7) == 0 ? 7
                                                          : 0;

    *ret = (struct host){.literal = false};
    return scheme > 0 && is_plain(url) &&
           read_authority(url + scheme, strcspn(url + scheme, "/"), ret);
}

static enum tg_class refuse_form(struct tg_error *err)
{
    return tg_fail(err, TG_CLASS_INVALID, "invalid_url",
                   "a base URL is http(s)://HOST[:PORT][/PATH] without account, query and "
                   "fragment");
}

static enum tg_class refuse_address(const struct host *host, struct tg_error *err)
{
    return tg_fail(err, TG_CLASS_INVALID, "address_refused",
                   "the address %s may not be reached; net.channel_allow opens private ranges",
                   host->text);
}

enum tg_class tg_url_check(const char *url, struct tg_error *err)
{
    struct host host;

    if (!read_url(url, &host))
        return refuse_form(err);
    if (host.literal && tg_address_is_never_reached(&host.address))
        return refuse_address(&host, err);
    return TG_OK;
}

enum tg_class tg_url_check_reach(const char *url, const struct tg_cidr *allow, size_t allow_count,
                                 struct tg_error *err)
{
    struct host host;

    if (!read_url(url, &host))
        return refuse_form(err);
    if (host.literal && !tg_address_may_reach(&host.address, allow, allow_count))
        return refuse_address(&host, err);
    return TG_OK;
}
