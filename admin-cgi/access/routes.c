#include "admin-cgi/access/routes.h"

#include <stdlib.h>
#include <string.h>

#include "admin-cgi/pages/pages.h"

const struct web_form_def NO_FORM = {0};

#define AREA(area, label, permission)
#define ROUTE(area, method, pattern, permission, scope, owner, handler, form, page)                \
    {area,                                                                                         \
     method,                                                                                       \
     pattern,                                                                                      \
     ACCESS_##permission,                                                                          \
     scope,                                                                                        \
     owner,                                                                                        \
     handler,                                                                                      \
     #handler,                                                                                     \
     &(form) == &NO_FORM ? NULL : &(form),                                                         \
     page},
const struct web_route web_routes[] = {
#include "admin-cgi/access/routes.def"
};
#undef AREA
#undef ROUTE
const size_t web_route_count = TG_COUNT_OF(web_routes);

struct values {
    int64_t id;
    const char *name;
};

static bool take_id(const char *text, size_t len, int64_t *ret)
{
    char *end;

    if (len == 0 || len > 18 || strspn(text, "0123456789") < len)
        return false;
    *ret = strtoll(text, &end, 10);
    return *ret > 0;
}

/* One part of a path against one of a pattern. */
static bool part_fits(const struct web_request *request, const char *pattern, size_t pattern_len,
                      struct tg_span part, struct values *ret)
{
    if (pattern_len == 4 && memcmp(pattern, "{id}", 4) == 0)
        return take_id(part.ptr, part.len, &ret->id);
    if (pattern_len == 6 && memcmp(pattern, "{name}", 6) == 0) {
        ret->name = tg_arena_strndup(request->arena, part.ptr, part.len);
        return part.len > 0;
    }
    return part.len == pattern_len && memcmp(part.ptr, pattern, pattern_len) == 0;
}

static bool fits(const struct web_request *request, const char *pattern, struct values *ret)
{
    const char *path = request->path;

    while (*pattern == '/' && *path == '/') {
        size_t pattern_len = strcspn(++pattern, "/"), len = strcspn(++path, "/");

        if (!part_fits(request, pattern, pattern_len, (struct tg_span){path, len}, ret))
            return false;
        pattern += pattern_len;
        path += len;
    }
    return *pattern == '\0' && *path == '\0';
}

/* Rows with fixed words stand in the table before those with {name}. */
enum tg_class web_route_find(const struct web_request *request, const struct web_route **ret,
                             int64_t *ret_id, const char **ret_name, struct tg_error *err)
{
    bool other_method = false;

    for (size_t i = 0; i < web_route_count; i++) {
        struct values values = {0};

        if (strcmp(web_routes[i].area, request->area) != 0 ||
            !fits(request, web_routes[i].pattern, &values))
            continue;
        if (web_routes[i].method != request->method) {
            other_method = true;
            continue;
        }
        *ret = &web_routes[i];
        *ret_id = values.id;
        *ret_name = values.name;
        return TG_OK;
    }
    if (other_method)
        return tg_fail(err, TG_CLASS_METHOD, "method_not_allowed",
                       "this is not done with that method");
    return tg_fail(err, TG_CLASS_NOT_FOUND, "no_route", "there is no such page");
}

static const char *owner_name(enum access_owner owner)
{
    switch (owner) {
    case ACCESS_OWN_TOKEN:
        return "token";
    case ACCESS_OWN_SESSION:
        return "session";
    case ACCESS_OWN_PAT:
        return "pat";
    case ACCESS_ANYBODYS:
        break;
    }
    return NULL;
}

static void write_route(const struct web_route *route, struct tg_json_writer *out)
{
    static const char *const roles[] = {"", "user", "admin", "root"};

    tg_json_begin_object(out);
    tg_json_put_str(out, "area", route->area);
    tg_json_put_str(out, "method", route->method == WEB_POST ? "POST" : "GET");
    tg_json_put_str(out, "pattern", route->pattern);
    tg_json_put_str(out, "permission", access_permission_word(route->permission));
    tg_json_put_str(out, "role", roles[access_permission_role(route->permission)]);
    tg_json_put_bool(out, "asks_nobody", route->permission == ACCESS_NOBODY);
    tg_json_put_str(out, "scope", route->scope);
    tg_json_put_str(out, "owner", owner_name(route->owner));
    tg_json_put_str(out, "handler", route->handler_name);
    tg_json_put_str(out, "template", route->template_name);
    tg_json_key(out, "fields");
    tg_json_begin_array(out);
    for (size_t i = 0; route->form != NULL && i < route->form->count; i++)
        tg_json_write_str(out, route->form->fields[i].name);
    tg_json_end_array(out);
    tg_json_end_object(out);
}

void access_write_routes(struct tg_json_writer *out)
{
    tg_json_begin_array(out);
    for (size_t i = 0; i < web_route_count; i++)
        write_route(&web_routes[i], out);
    tg_json_end_array(out);
}
