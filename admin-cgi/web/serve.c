#include "admin-cgi/web/serve.h"

#include <string.h>

#include "admin-cgi/access/admit.h"
#include "admin-cgi/access/routes.h"
#include "admin-cgi/web/answer.h"
#include "admin-cgi/web/escape.h"
#include "admin-cgi/web/flash.h"
#include "admin-cgi/web/render.h"
#include "common/base/log.h"

static const char json_type[] = "application/json";
static const char html_type[] = "text/html; charset=utf-8";

static void begin_document(struct web_page *page)
{
    tg_buf_reset(&page->doc);
    tg_json_writer_init(&page->out, &page->doc);
    tg_json_begin_object(&page->out);
}

static void send_bytes(struct web_page *page, int status, const char *type,
                       const struct tg_buf *body)
{
    web_answer_send(page->request->gate, page->request,
                    &(struct web_answer){.status = status,
                                         .type = type,
                                         .head = &page->head,
                                         .body = {tg_buf_text(body), body->len}});
}

/* page->doc through a template; a template that is broken is told plainly. */
static void send_page(struct web_page *page, int status, const char *template_name)
{
    struct tg_error err;
    struct tg_buf html;

    if (web_render(page, template_name, &html, &err) == TG_OK) {
        send_bytes(page, status, html_type, &html);
    } else {
        tg_log_error(TG_LOG_ERROR, "console", &err);
        tg_buf_reset(&html);
        html.failed = false;
        tg_buf_str(&html, "The page cannot be shown; the web server's error log says why.\n");
        send_bytes(page, 500, "text/plain; charset=utf-8", &html);
    }
    tg_buf_done(&html);
}

static void send_error(struct web_page *page, int status)
{
    if (status == 500 || page->err.class == TG_CLASS_DOWN)
        tg_log_error(TG_LOG_ERROR, "console", &page->err);
    tg_buf_reset(&page->doc);
    web_render_error(page, status, &page->doc);
    if (page->request->wants_json)
        send_bytes(page, status, json_type, &page->doc);
    else
        send_page(page, status, "error");
}

static void send_on(struct web_page *page, const char *location)
{
    if (page->flash != NULL)
        web_flash_set(page, page->flash);
    web_answer_send(page->request->gate, page->request,
                    &(struct web_answer){
                        .status = 303, .location = location, .head = &page->head});
}

/* The form again, with what was typed and what is wrong with it. */
static bool show_form_again(struct web_page *page, int status)
{
    const struct web_form_def *def = page->form.def;
    struct tg_error err = page->err;

    if (def == NULL || def->view == NULL || page->request->wants_json ||
        page->route->template_name == NULL)
        return false;
    begin_document(page);
    if (def->view(page) != TG_OK)
        return false;
    page->err = err;
    if (!page->form.failed)
        tg_json_put_str(&page->out, "refused", err.message);
    tg_json_end_object(&page->out);
    send_page(page, status, page->route->template_name);
    return true;
}

static bool has_field(const struct web_form *form, const char *name)
{
    for (size_t i = 0; form->def != NULL && i < form->def->count; i++)
        if (strcmp(form->def->fields[i].name, name) == 0)
            return true;
    return false;
}

static void send_failure(struct web_page *page, enum tg_class class)
{
    int status = web_status_of(class);

    if (page->err.param[0] != '\0' && has_field(&page->form, page->err.param))
        web_form_refuse(&page->form, page->err.param, page->err.message);
    if (status == 400 && page->form.failed)
        status = 422;
    if ((status == 422 || status == 400 || status == 409) && show_form_again(page, status))
        return;
    send_error(page, status);
}

static void send_success(struct web_page *page)
{
    tg_json_end_object(&page->out);
    tg_assert(!page->doc.failed);
    if (!page->request->wants_json && page->location != NULL)
        send_on(page, tg_arena_printf(page->arena, "%s%s", page->request->base, page->location));
    else if (!page->request->wants_json && page->template_name != NULL)
        send_page(page, page->status, page->template_name);
    else
        send_bytes(page, page->status, json_type, &page->doc);
}

static enum tg_class read_form(struct web_page *page)
{
    static const char *const in_query[] = {"after", "limit", "sort", NULL};
    static const char *const in_body[] = {"csrf", NULL};
    const struct web_form_def *def = page->route->form;
    bool post = page->request->method == WEB_POST;
    enum tg_class class;

    web_form_init(&page->form, def, page->arena, page->who.zone);
    if (!post && (def == NULL || !def->in_query))
        return TG_OK;
    class = web_form_read(&page->form, post ? &page->request->body : &page->request->query,
                          post ? in_body : in_query, page->request->body_kind == WEB_BODY_JSON,
                          &page->err);
    if (class == TG_OK && page->form.failed)
        class = tg_fail(&page->err, TG_CLASS_INVALID, "invalid_fields",
                        "some fields are not as they must be");
    return class;
}

/* A browser that nobody is logged in on goes to the login page, and comes back afterwards. */
static bool send_to_login(struct web_page *page)
{
    struct web_request *request = page->request;
    struct tg_buf to;

    if (request->wants_json || request->method != WEB_GET)
        return false;
    tg_buf_init(&to, 0);
    tg_buf_str(&to, "next=");
    web_escape_url(&to, request->area, strlen(request->area));
    tg_buf_str(&to, ".cgi");
    web_escape_url(&to, request->path, strlen(request->path));
    send_on(page, tg_arena_printf(page->arena, "%slogin.cgi?%s", request->base, to.data));
    tg_buf_done(&to);
    return true;
}

static void run(struct web_page *page)
{
    enum tg_class class;

    web_form_init(&page->form, NULL, page->arena, "UTC");
    class = web_route_find(page->request, &page->route, &page->id, &page->name, &page->err);
    if (class == TG_OK)
        class = access_admit(page);
    if (class == TG_CLASS_AUTH && page->route->permission != ACCESS_PUBLIC && send_to_login(page))
        return;
    if (class == TG_OK)
        class = read_form(page);
    if (class == TG_OK) {
        page->template_name = page->route->template_name;
        begin_document(page);
        class = page->route->handler(page);
    }
    if (page->streams)
        return; /* the head is out; a failure has cut the body */
    if (class == TG_OK)
        send_success(page);
    else
        send_failure(page, class);
}

void web_serve(struct web_site *site, struct web_gate *gate)
{
    struct tg_arena *arena = tg_arena_new();
    struct web_request request;
    struct web_page page = {.site = site,
                            .request = &request,
                            .arena = arena,
                            .status = 200,
                            .who = {.username = "", .role_name = "", .zone = "UTC"}};
    const struct web_request_rules rules = {site->proxies, site->proxy_count,
                                            tg_conf_text(site->conf, TG_OPTION_CONSOLE_HOSTS)};
    enum tg_class class;

    tg_buf_init(&page.doc, 0);
    tg_buf_init(&page.head, 0);
    class = web_request_read(gate, arena, &rules, &request, &page.err);
    if (class == TG_OK)
        run(&page);
    else if (class != TG_CLASS_GONE)
        send_error(&page, web_status_of(class));
    tg_db_release(page.main_db);
    tg_db_release(page.log_db);
    tg_buf_done(&page.doc);
    tg_buf_done(&page.head);
    tg_arena_free(arena);
}

void web_serve_nothing(struct web_gate *gate, const struct tg_error *err)
{
    static const char answer[] =
        "Status: 500 Internal Server Error\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n"
        "The console is not set up; the web server's error log says why.\n";

    tg_log_error(TG_LOG_ERROR, "console", err);
    web_gate_write(gate, answer, sizeof answer - 1);
}
