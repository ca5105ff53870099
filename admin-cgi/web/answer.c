#include "admin-cgi/web/answer.h"

#include <stdio.h>
#include <string.h>

const char *web_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {{200, "OK"},
                 {201, "Created"},
                 {303, "See Other"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {409, "Conflict"},
                 {413, "Content Too Large"},
                 {422, "Unprocessable Content"},
                 {429, "Too Many Requests"},
                 {500, "Internal Server Error"},
                 {502, "Bad Gateway"},
                 {503, "Service Unavailable"}};

    for (size_t i = 0; i < TG_COUNT_OF(texts); i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Status";
}

static void put_header(struct tg_buf *head, const char *name, const char *value)
{
    tg_assert(strpbrk(value, "\r\n") == NULL);
    tg_buf_printf(head, "%s: %s\r\n", name, value);
}

/* Nothing comes from elsewhere, nothing runs inline, nobody puts a page into a frame. Bootstrap's
 * style sheet holds pictures as data: URLs. */
static void put_safety(struct tg_buf *head, const struct web_request *request)
{
    put_header(head, "Content-Security-Policy",
               "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
               "form-action 'self'; frame-ancestors 'none'");
    put_header(head, "X-Content-Type-Options", "nosniff");
    put_header(head, "X-Frame-Options", "DENY");
    put_header(head, "Referrer-Policy", "same-origin");
    put_header(head, "Cross-Origin-Opener-Policy", "same-origin");
    put_header(head, "Cross-Origin-Resource-Policy", "same-origin");
    if (request->tls)
        put_header(head, "Strict-Transport-Security", "max-age=31536000");
}

void web_answer_send(struct web_gate *gate, const struct web_request *request,
                     const struct web_answer *answer)
{
    struct tg_buf head;

    tg_buf_init(&head, 0);
    tg_buf_printf(&head, "Status: %d %s\r\n", answer->status, web_status_text(answer->status));
    if (answer->type != NULL)
        put_header(&head, "Content-Type", answer->type);
    if (answer->location != NULL)
        put_header(&head, "Location", answer->location);
    if (answer->file_name != NULL)
        tg_buf_printf(&head, "Content-Disposition: attachment; filename=\"%s\"\r\n",
                      answer->file_name);
    if (answer->status == 401 && request->wants_json)
        put_header(&head, "WWW-Authenticate", "Bearer realm=\"tollgate\"");
    put_safety(&head, request);
    put_header(&head, "Cache-Control",
               answer->cached ? "public, max-age=604800, immutable" : "no-store");
    if (answer->head != NULL && answer->head->len > 0)
        tg_buf_add(&head, answer->head->data, answer->head->len);
    if (!answer->streams)
        tg_buf_printf(&head, "Content-Length: %zu\r\n", answer->body.len);
    tg_buf_str(&head, "\r\n");
    web_gate_write(gate, head.data, head.len);
    tg_buf_done(&head);
    if (!request->head && answer->body.len > 0)
        web_gate_write(gate, answer->body.ptr, answer->body.len);
}

static const char *cookie_name(const struct web_request *request, const char *name)
{
    return request->tls ? tg_arena_printf(request->arena, "__Host-%s", name) : name;
}

void web_cookie_set(struct tg_buf *head, const struct web_request *request, const char *name,
                    const char *value, int64_t seconds)
{
    tg_buf_printf(head, "Set-Cookie: %s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s\r\n",
                  cookie_name(request, name), value, (long long)seconds,
                  request->tls ? "; Secure" : "");
}

const char *web_cookie(const struct web_request *request, const char *name)
{
    return web_param(&request->cookies, cookie_name(request, name));
}
