#include "admin-cgi/web/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"

static const char default_base[] = "/tollgate/";

enum {
    PATH_BYTES_MOST = 1024,
    DEVICE_BYTES_MOST = 255,
    AREA_BYTES_MOST = 32,
    DRAIN_BYTES_MOST = 4 * WEB_BODY_BYTES_MOST
};

static const char *param(const struct web_request *request, const char *name)
{
    const char *value = web_gate_param(request->gate, name);

    return value != NULL ? value : "";
}

static const char *header(const struct web_request *request, const char *name)
{
    const char *value = web_gate_header(request->gate, name);

    return value != NULL ? value : "";
}

/* --- Who is at the other end --- */

static bool is_proxy(const struct web_request_rules *rules, const char *text)
{
    struct tg_address address;

    return tg_address_parse(text, &address) &&
           tg_cidrs_match(rules->proxies, rules->proxy_count, &address);
}

/* X-Forwarded-For is read from the right, as long as those who wrote it are ours. */
static const char *client_address(const struct web_request *request,
                                  const struct web_request_rules *rules)
{
    const char *address = param(request, "REMOTE_ADDR"), *list = header(request, "x-forwarded-for");
    size_t len = strlen(list);
    struct tg_address parsed;

    while (len > 0 && is_proxy(rules, address)) {
        const char *comma = memrchr(list, ',', len);
        size_t from = comma == NULL ? 0 : (size_t)(comma - list) + 1;
        size_t skip = strspn(list + from, " ");
        char *hop = tg_arena_strndup(request->arena, list + from + skip,
                                     len > from + skip ? len - from - skip : 0);

        if (!tg_address_parse(hop, &parsed))
            break;
        address = hop;
        len = comma == NULL ? 0 : (size_t)(comma - list);
    }
    return tg_arena_strdup(request->arena, address);
}

static bool is_tls(const struct web_request *request, const struct web_request_rules *rules)
{
    if (strcasecmp(param(request, "HTTPS"), "on") == 0 ||
        strcasecmp(param(request, "REQUEST_SCHEME"), "https") == 0)
        return true;
    return is_proxy(rules, param(request, "REMOTE_ADDR")) &&
           strcasecmp(header(request, "x-forwarded-proto"), "https") == 0;
}

/* A name, an address in brackets, a port: nothing that could end a header or begin a path. */
static bool is_host(const char *host)
{
    size_t len = strlen(host);

    return len > 0 && len <= 255 &&
           strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]") ==
               len;
}

/* Is the host, without its port, one of the names? */
static bool is_own_host(const char *host, const char *hosts)
{
    const char *bracket = strchr(host, ']');
    size_t len = bracket != NULL ? (size_t)(bracket - host) + 1 : strcspn(host, ":"), name;

    if (*hosts == '\0')
        return true;
    for (hosts += strspn(hosts, ", "); *hosts != '\0'; hosts += name + strspn(hosts + name, ", ")) {
        name = strcspn(hosts, ", ");
        if (name == len && strncasecmp(hosts, host, len) == 0)
            return true;
    }
    return false;
}

/* --- Which page --- */

static bool is_area(const char *text, size_t len)
{
    if (len == 0 || len > AREA_BYTES_MOST)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!islower((unsigned char)text[i]) && text[i] != '-')
            return false;
    return true;
}

/* "/tollgate/users.cgi/7" in its three parts. */
static bool split_program(struct web_request *request, const char *full)
{
    const char *dot = strstr(full, ".cgi"), *name;

    if (dot == NULL || (dot[4] != '\0' && dot[4] != '/'))
        return false;
    for (name = dot; name > full && name[-1] != '/'; name--)
        ;
    if (!is_area(name, (size_t)(dot - name)) || name == full)
        return false;
    request->base = tg_arena_strndup(request->arena, full, (size_t)(name - full));
    request->area = tg_arena_strndup(request->arena, name, (size_t)(dot - name));
    request->path = tg_arena_strdup(request->arena, dot + 4);
    return true;
}

/* "/api/users/7" when no rewriting has been done. */
static bool split_api(struct web_request *request, const char *full)
{
    const char *name;
    size_t len;

    if (strncmp(full, "/api/", 5) != 0)
        return false;
    name = full + 5;
    len = strcspn(name, "/");
    if (!is_area(name, len))
        return false;
    request->area = tg_arena_strndup(request->arena, name, len);
    request->path = tg_arena_strdup(request->arena, name + len);
    return true;
}

static enum tg_class read_path(struct web_request *request, struct tg_error *err)
{
    const char *script = param(request, "SCRIPT_NAME"), *info = param(request, "PATH_INFO");
    const char *full = tg_arena_printf(request->arena, "%s%s", script, info);
    size_t len = strlen(full);

    if (len > PATH_BYTES_MOST || strstr(full, "/../") != NULL || strstr(full, "/./") != NULL)
        return tg_fail(err, TG_CLASS_INVALID, "bad_path", "this is no path");
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)full[i] < 0x20 || full[i] == 0x7f || full[i] == '\\')
            return tg_fail(err, TG_CLASS_INVALID, "bad_path", "this is no path");
    if (!split_program(request, full) && !split_api(request, full))
        return tg_fail(err, TG_CLASS_NOT_FOUND, "no_route", "there is no such page");
    if (strcmp(request->path, "/") == 0)
        request->path = "";
    return TG_OK;
}

static const char *path_only(struct tg_arena *arena, const char *uri)
{
    return tg_arena_strndup(arena, uri, strcspn(uri, "?"));
}

static bool wants_json(const struct web_request *request)
{
    const char *accept = header(request, "accept"), *json = strstr(accept, "application/json");
    const char *html = strstr(accept, "text/html");

    return strncmp(path_only(request->arena, param(request, "REQUEST_URI")), "/api/", 5) == 0 ||
           request->bearer != NULL || (json != NULL && (html == NULL || json < html));
}

/* --- The body --- */

static enum web_body body_kind(const struct web_request *request)
{
    const char *type = param(request, "CONTENT_TYPE");
    size_t len = strcspn(type, "; ");

    if (len == 0)
        return WEB_BODY_NONE;
    if (len == 33 && strncasecmp(type, "application/x-www-form-urlencoded", len) == 0)
        return WEB_BODY_FORM;
    return len == 16 && strncasecmp(type, "application/json", len) == 0 ? WEB_BODY_JSON
                                                                        : WEB_BODY_OTHER;
}

/* What is too long is read all the same, as far as web servers let it through: who is left with a
 * rest to send may lose the answer. */
static enum tg_class read_bytes(const struct web_request *request, struct tg_buf *bytes,
                                struct tg_error *err)
{
    long long left = strtoll(param(request, "CONTENT_LENGTH"), NULL, 10);
    bool too_large = left > WEB_BODY_BYTES_MOST;
    char piece[16384];
    size_t len;
    enum tg_class class;

    for (left = TG_MIN(left, (long long)DRAIN_BYTES_MOST); left > 0; left -= (long long)len) {
        class = web_gate_read(request->gate, piece, (size_t)TG_MIN(left, (long long)sizeof piece),
                              &len, err);
        if (class != TG_OK)
            return class;
        if (len == 0)
            return tg_fail(err, TG_CLASS_GONE, "client_gone", "the request's body is cut off");
        if (!too_large)
            tg_buf_add(bytes, piece, len);
    }
    if (too_large)
        return tg_fail(err, TG_CLASS_TOO_LARGE, "request_too_large",
                       "a request has at most %d bytes", WEB_BODY_BYTES_MOST);
    return TG_OK;
}

static enum tg_class take_body(struct web_request *request, const struct tg_buf *bytes,
                               struct tg_error *err)
{
    request->body_kind = body_kind(request);
    if (bytes->len == 0 || request->method != WEB_POST)
        return TG_OK;
    if (request->body_kind == WEB_BODY_FORM)
        return web_params_parse(request->arena, bytes->data, bytes->len, &request->body, err);
    if (request->body_kind == WEB_BODY_JSON)
        return web_params_json(request->arena, bytes->data, bytes->len, &request->body, err);
    return TG_OK;
}

static void read_head(struct web_request *request, const struct web_request_rules *rules)
{
    const char *method = param(request, "REQUEST_METHOD");
    const char *authorization = header(request, "authorization");
    const char *device = header(request, "user-agent");

    request->head = strcmp(method, "HEAD") == 0;
    request->method = strcmp(method, "GET") == 0 || request->head ? WEB_GET
                      : strcmp(method, "POST") == 0               ? WEB_POST
                                                                  : WEB_OTHER_METHOD;
    if (strncasecmp(authorization, "Bearer ", 7) == 0)
        request->bearer = authorization + 7 + strspn(authorization + 7, " ");
    request->address = client_address(request, rules);
    request->tls = is_tls(request, rules);
    request->device = tg_arena_strndup(request->arena, device,
                                       TG_MIN(strlen(device), (size_t)DEVICE_BYTES_MOST));
    web_params_cookies(request->arena, header(request, "cookie"), &request->cookies);
}

static enum tg_class read_target(struct web_request *request,
                                 const struct web_request_rules *rules, struct tg_error *err)
{
    const char *query = param(request, "QUERY_STRING");
    enum tg_class class;

    if (!is_host(header(request, "host")) || !is_own_host(header(request, "host"), rules->hosts))
        return tg_fail(err, TG_CLASS_INVALID, "bad_host", "this is no host name");
    request->host = header(request, "host");
    class = read_path(request, err);
    return class == TG_OK
               ? web_params_parse(request->arena, query, strlen(query), &request->query, err)
               : class;
}

enum tg_class web_request_read(struct web_gate *gate, struct tg_arena *arena,
                               const struct web_request_rules *rules, struct web_request *ret,
                               struct tg_error *err)
{
    struct tg_buf bytes;
    enum tg_class class;

    *ret = (struct web_request){
        .arena = arena, .gate = gate, .area = "", .path = "", .base = default_base, .host = ""};
    read_head(ret, rules);
    ret->wants_json = wants_json(ret);
    /* The body first, whatever else is wrong: a server that is left with it cuts the answer. */
    tg_buf_init(&bytes, WEB_BODY_BYTES_MOST);
    class = read_bytes(ret, &bytes, err);
    if (class == TG_OK)
        class = read_target(ret, rules, err);
    if (class == TG_OK)
        class = take_body(ret, &bytes, err);
    if (bytes.len > 0)
        explicit_bzero(bytes.data, bytes.len); /* passwords */
    tg_buf_done(&bytes);
    return class;
}

bool web_request_same_origin(const struct web_request *request, bool least)
{
    const char *site = header(request, "sec-fetch-site"), *origin = header(request, "origin");
    const char *host;

    if (*site != '\0' && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    if (*origin == '\0')
        return *site != '\0' || !least;
    host = strstr(origin, "://");
    return host != NULL && strcasecmp(host + 3, request->host) == 0;
}
