#include "fcgi-app/pool/intake.h"

#include "common/base/clock.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/worker.h"

#include <string.h>

enum { CLIENT_ID_MOST = 64 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *tg_intake_decode(struct tg_arena *arena, const char *text, size_t len)
{
    char *out = tg_arena_alloc(arena, len + 1), *to = out;

    for (size_t i = 0; i < len; i++) {
        int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text[i + 2]) : -1;

        if (text[i] == '%' && low >= 0 && high * 16 + low != 0) {
            *to++ = (char)(high * 16 + low);
            i += 2;
        } else {
            *to++ = text[i];
        }
    }
    *to = '\0';
    return out;
}

/* The last entry of <list> (its first *len bytes), trimmed; *len shrinks to what is before it. */
static const char *take_last(struct tg_arena *arena, const char *list, size_t *len)
{
    size_t end = *len, start;

    while (end > 0 && (list[end - 1] == ' ' || list[end - 1] == ','))
        end--;
    for (start = end; start > 0 && list[start - 1] != ','; start--)
        continue;
    *len = start;
    while (start < end && list[start] == ' ')
        start++;
    return tg_arena_strndup(arena, list + start, end - start);
}

const char *tg_intake_address(struct tg_arena *arena, const struct tg_intake_address *from,
                              struct tg_address *ret)
{
    const char *text = from->remote_addr != NULL ? from->remote_addr : "";
    size_t len = from->forwarded_for != NULL ? strlen(from->forwarded_for) : 0;
    struct tg_address next;

    if (!tg_address_parse(text, ret)) {
        *ret = (struct tg_address){{0}};
        return "";
    }
    while (len > 0 && tg_cidrs_match(from->proxies, from->proxy_count, ret)) {
        const char *entry = take_last(arena, from->forwarded_for, &len);

        if (!tg_address_parse(entry, &next))
            break; /* what stands further left came through an unreadable hop */
        *ret = next;
        text = entry;
    }
    return tg_arena_strdup(arena, text);
}

/* An encoded slash separates nothing: only a model's name may hold one. Anywhere else the path is
 * left as it was sent, and no endpoint has it: a web server's rule for a folder must not be passed
 * by writing the folder otherwise. */
static char *decode_path(struct tg_arena *arena, const char *path, size_t len)
{
    char *raw = tg_arena_strndup(arena, path, len);
    const char *slash = strcasestr(raw, "%2f"), *models = strstr(raw, "/models/");

    if (slash != NULL && (models == NULL || slash < models))
        return raw;
    return tg_intake_decode(arena, path, len);
}

static void take_path(struct tg_request *req)
{
    const char *uri = tg_fcgi_param(req->fcgi, "REQUEST_URI");
    const char *scheme, *mark, *query = tg_fcgi_param(req->fcgi, "QUERY_STRING");
    char *path;

    if (uri == NULL) {
        const char *script = tg_fcgi_param(req->fcgi, "SCRIPT_NAME");
        const char *info = tg_fcgi_param(req->fcgi, "PATH_INFO");

        path = tg_arena_printf(req->arena, "%s%s", script != NULL ? script : "",
                               info != NULL ? info : "");
    } else {
        scheme = uri[0] != '/' ? strstr(uri, "://") : NULL;
        if (scheme != NULL) /* absolute form (RFC 9112 3.2.2) */
            uri = scheme + 3 + strcspn(scheme + 3, "/");
        mark = strchr(uri, '?');
        path = decode_path(req->arena, uri, mark != NULL ? (size_t)(mark - uri) : strlen(uri));
        if (mark != NULL)
            query = mark + 1;
    }
    tg_endpoint_tidy(path);
    req->path = path;
    req->query = query != NULL ? tg_arena_strdup(req->arena, query) : "";
}

/* The client's own id is kept in the record when it is harmless text. */
static const char *client_id(struct tg_request *req)
{
    const char *id = tg_fcgi_header(req->fcgi, "x-request-id");
    size_t len = id != NULL ? strlen(id) : 0;

    if (len == 0 || len > CLIENT_ID_MOST)
        return "";
    for (size_t i = 0; i < len; i++)
        if (id[i] <= ' ' || id[i] > '~')
            return "";
    return tg_arena_strdup(req->arena, id);
}

void tg_intake(struct tg_request *req)
{
    const struct tg_settings *settings = tg_worker_settings(req->worker);
    const char *method = tg_fcgi_param(req->fcgi, "REQUEST_METHOD");
    const struct tg_intake_address from = {
        .remote_addr = tg_fcgi_param(req->fcgi, "REMOTE_ADDR"),
        .forwarded_for = tg_fcgi_header(req->fcgi, "x-forwarded-for"),
        .proxies = settings->trusted_proxies,
        .proxy_count = settings->trusted_proxies_count,
    };

    req->id = tg_id_new();
    tg_id_format(&req->id, req->id_text);
    req->started_at_us = tg_now_us();
    req->created_unix_us = tg_unix_us();
    req->method = tg_arena_strdup(req->arena, method != NULL ? method : "");
    take_path(req);
    req->client_request_id = client_id(req);
    req->idempotency_key = tg_fcgi_header(req->fcgi, "idempotency-key");
    req->address_text = tg_intake_address(req->arena, &from, &req->address);
    tg_buf_init(&req->tail, 0);
    tg_buf_init(&req->bill_steps, 0);
}
