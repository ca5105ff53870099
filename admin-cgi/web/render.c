#include "admin-cgi/web/render.h"

#include <stdio.h>
#include <string.h>

#include "admin-cgi/access/routes.h"
#include "admin-cgi/web/flash.h"

enum { PAGE_BYTES_MOST = 32 * 1024 * 1024 };

static const struct {
    const char *area, *label;
    enum access_permission permission;
} areas[] = {
#define AREA(area, label, permission) {area, label, ACCESS_##permission},
#define ROUTE(area, method, pattern, permission, scope, owner, handler, form, page)
#include "admin-cgi/access/routes.def"
#undef AREA
#undef ROUTE
};

int web_status_of(enum tg_class class)
{
    switch (class) {
    case TG_OK:
        return 200;
    case TG_CLASS_AUTH:
        return 401;
    case TG_CLASS_FORBIDDEN:
        return 403;
    case TG_CLASS_INVALID:
    case TG_CLASS_UNPRICED:
        return 400;
    case TG_CLASS_NOT_FOUND:
        return 404;
    case TG_CLASS_METHOD:
        return 405;
    case TG_CLASS_CONFLICT:
        return 409;
    case TG_CLASS_TOO_LARGE:
        return 413;
    case TG_CLASS_LIMIT:
        return 429;
    case TG_CLASS_DOWN:
    case TG_CLASS_OVERLOAD:
        return 503;
    case TG_CLASS_UPSTREAM:
    case TG_CLASS_TRANSPORT:
    case TG_CLASS_TIMEOUT:
        return 502;
    default:
        return 500;
    }
}

static void write_who(const struct web_page *page, struct tg_json_writer *out)
{
    tg_json_key(out, "who");
    if (page->who.user_id == 0) {
        tg_json_write_null(out);
        return;
    }
    tg_json_begin_object(out);
    tg_json_put_int(out, "id", page->who.user_id);
    tg_json_put_str(out, "username", page->who.username);
    tg_json_put_str(out, "role", page->who.role_name);
    tg_json_put_str(out, "zone", page->who.zone);
    tg_json_end_object(out);
}

/* "may": {"group_write": true, …}: what a template offers. */
static void write_rights(const struct web_page *page, struct tg_json_writer *out)
{
    char name[64];

    tg_json_key(out, "may");
    tg_json_begin_object(out);
    for (size_t i = ACCESS_PUBLIC + 1; i < ACCESS__COUNT; i++) {
        snprintf(name, sizeof name, "%s", access_permission_word((enum access_permission)i));
        for (char *at = name; *at != '\0'; at++)
            if (*at == ':')
                *at = '_';
        tg_json_put_bool(out, name, access_may(&page->who, (enum access_permission)i));
    }
    tg_json_end_object(out);
}

static void write_areas(const struct web_page *page, struct tg_json_writer *out)
{
    tg_json_key(out, "areas");
    tg_json_begin_array(out);
    for (size_t i = 0; i < TG_COUNT_OF(areas); i++) {
        if (page->who.user_id == 0 || !access_may(&page->who, areas[i].permission))
            continue;
        tg_json_begin_object(out);
        tg_json_put_str(out, "area", areas[i].area);
        tg_json_put_str(out, "label", areas[i].label);
        tg_json_put_bool(out, "current", strcmp(areas[i].area, page->request->area) == 0);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

static void write_link(const struct web_page *page, struct tg_json_writer *out, const char *name,
                       const char *const *but, const char *last)
{
    struct tg_buf link;

    tg_buf_init(&link, 0);
    tg_buf_char(&link, '?');
    web_params_query(&page->request->query, but, &link);
    if (last != NULL)
        tg_buf_printf(&link, "%s%s=", link.len > 1 ? "&" : "", last);
    tg_json_put_str(out, name, tg_buf_text(&link));
    tg_buf_done(&link);
}

/* Links of a list: "first", and beginnings that a cursor or a column is put behind. */
static void write_list(const struct web_page *page, struct tg_json_writer *out)
{
    static const char *const place[] = {"after", NULL}, *const order[] = {"after", "sort", NULL};
    const char *sort = web_param(&page->request->query, "sort");

    tg_json_key(out, "list");
    tg_json_begin_object(out);
    write_link(page, out, "first", place, NULL);
    write_link(page, out, "more", place, "after");
    write_link(page, out, "sort_by", order, "sort");
    tg_json_put_str(out, "sort", sort);
    tg_json_put_bool(out, "further", web_param(&page->request->query, "after") != NULL);
    tg_json_end_object(out);
}

static void write_frame(struct web_page *page, struct tg_json_writer *out)
{
    const struct web_request *request = page->request;

    tg_json_begin_object(out);
    tg_json_put_str(out, "base", request->base);
    tg_json_put_str(out, "area", request->area);
    tg_json_put_str(out, "path", request->path);
    tg_json_put_str(out, "self", tg_arena_printf(page->arena, "%s%s.cgi%s", request->base,
                                                 request->area, request->path));
    tg_json_put_str(out, "version", PACKAGE_VERSION);
    tg_json_put_str(out, "csrf", page->who.csrf);
    tg_json_put_str(out, "flash", web_flash_take(page));
    write_who(page, out);
    write_rights(page, out);
    write_areas(page, out);
    write_list(page, out);
    if (page->form.def != NULL) {
        tg_json_key(out, "form");
        tg_json_begin_object(out);
        tg_json_put_str(out, "action",
                        page->form.def->action == NULL
                            ? tg_arena_printf(page->arena, "%s%s.cgi%s", request->base,
                                              request->area, request->path)
                            : tg_arena_printf(page->arena, "%s%s.cgi%s", request->base,
                                              request->area, page->form.def->action));
        web_form_write(&page->form, out);
        tg_json_end_object(out);
    }
    tg_json_end_object(out);
}

enum tg_class web_render(struct web_page *page, const char *template_name, struct tg_buf *out,
                         struct tg_error *err)
{
    struct tg_json *frame = NULL, *data = NULL;
    struct tg_buf text;
    struct tg_json_writer writer;
    enum tg_class class;

    tg_buf_init(&text, 0);
    tg_buf_init(out, PAGE_BYTES_MOST);
    tg_json_writer_init(&writer, &text);
    class = tg_json_parse(tg_buf_text(&page->doc), page->doc.len, &data, err);
    if (class == TG_OK) {
        web_form_fill(&page->form, data);
        write_frame(page, &writer);
        class = tg_json_parse(text.data, text.len, &frame, err);
    }
    if (class == TG_OK)
        class = web_template_render(page->site->templates,
                                    &(struct web_rendering){.layout = "layout",
                                                            .page = template_name,
                                                            .frame = frame,
                                                            .data = data,
                                                            .zone = page->who.zone},
                                    out, err);
    tg_json_free(frame);
    tg_json_free(data);
    tg_buf_done(&text);
    return class;
}

/* Errors of ours are told by their kind only: no SQL, no path, no address. */
static const char *message_of(const struct web_page *page, int status)
{
    if (page->err.class == TG_CLASS_DOWN)
        return tg_arena_printf(page->arena, "%s cannot be reached at the moment",
                               page->store != NULL ? page->store : "a store");
    if (status == 500)
        return "something is wrong here; the web server's error log says what";
    return page->err.message;
}

void web_render_error(struct web_page *page, int status, struct tg_buf *ret)
{
    struct tg_json_writer out;

    tg_json_writer_init(&out, ret);
    tg_json_begin_object(&out);
    tg_json_key(&out, "error");
    tg_json_begin_object(&out);
    tg_json_put_int(&out, "status", status);
    tg_json_put_str(&out, "code", status == 500 ? "internal" : page->err.code);
    tg_json_put_str(&out, "message", message_of(page, status));
    if (page->form.failed) {
        tg_json_key(&out, "fields");
        web_form_write_errors(&page->form, &out);
    }
    tg_json_end_object(&out);
    tg_json_end_object(&out);
}
