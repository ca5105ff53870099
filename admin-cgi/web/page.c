#include "admin-cgi/web/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin-cgi/web/answer.h"

/* --- Stores --- */

enum tg_class web_main(struct web_page *page)
{
    page->store = "the main database";
    if (page->main_db != NULL)
        return TG_OK;
    return web_site_main(page->site, &page->main_db, &page->err);
}

enum tg_class web_log(struct web_page *page)
{
    page->store = "the log database";
    if (page->log_db != NULL)
        return TG_OK;
    return web_site_log(page->site, &page->log_db, &page->err);
}

enum tg_class web_kv(struct web_page *page)
{
    page->store = "Redis";
    return web_site_kv(page->site, &page->err);
}

enum tg_class web_apply(struct web_page *page, struct tg_apply *ret)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = web_kv(page);
    if (class == TG_OK)
        class = web_site_ledger(page->site, &page->err);
    if (class != TG_OK)
        return class;
    page->store = "Redis or the main database";
    *ret = (struct tg_apply){.db = page->main_db,
                             .kv = page->site->kv,
                             .ledger = page->site->ledger,
                             .actor = &page->actor,
                             .arena = page->arena};
    return TG_OK;
}

bool web_other_secrets(struct web_page *page, enum tg_class class)
{
    const char *path = tg_conf_text(page->site->conf, TG_OPTION_SECRETS_CONSOLE_FILE);
    struct tg_secrets fresh;
    struct tg_error err;

    if (class != TG_CLASS_CONFLICT || strcmp(page->err.code, "master_key_changed") != 0 ||
        tg_secrets_read(path, NULL, &fresh, &err) != TG_OK)
        return false;
    tg_secrets_done(&page->site->secrets);
    page->site->secrets = fresh;
    tg_secrets_done(&fresh);
    return true;
}

void web_tell(struct web_page *page, const char *what)
{
    struct tg_error err = page->err;
    bool told = web_kv(page) == TG_OK && tg_apply_tell(page->site->kv, what);

    page->err = err;
    tg_json_put_bool(&page->out, "told", told);
    if (!told)
        page->flash = "Redis could not be told: the workers see the change a little later.";
}

/* --- The form --- */

bool web_given(const struct web_page *page, const char *name)
{
    return web_form_value(&page->form, name)->given;
}

const struct web_value *web_value(const struct web_page *page, const char *name)
{
    return web_form_value(&page->form, name);
}

const char *web_text(const struct web_page *page, const char *name)
{
    return web_form_value(&page->form, name)->text;
}

const char *web_text_or_null(const struct web_page *page, const char *name)
{
    const struct web_value *value = web_form_value(&page->form, name);

    return value->given ? value->text : NULL;
}

int64_t web_number(const struct web_page *page, const char *name)
{
    return web_form_value(&page->form, name)->number;
}

/* The page's own values stand back behind what a person has typed. */
void web_put_text(struct web_page *page, const char *name, const char *text)
{
    struct web_value *value = web_form_value(&page->form, name);

    if (page->form.read)
        return;
    value->given = true;
    value->text = text == NULL ? "" : tg_arena_strdup(page->arena, text);
}

void web_put_number(struct web_page *page, const char *name, int64_t number)
{
    struct web_value *value = web_form_value(&page->form, name);

    if (page->form.read)
        return;
    value->given = true;
    value->number = number;
    value->text = tg_arena_printf(page->arena, "%lld", (long long)number);
}

void web_put_choice(struct web_page *page, const char *name, const char *value, const char *label)
{
    struct web_value *at = web_form_value(&page->form, name);
    struct web_choice *list =
        tg_arena_calloc(page->arena, at->choice_count + 1, sizeof *list);

    if (at->choice_count > 0)
        memcpy(list, at->choices, at->choice_count * sizeof *list);
    list[at->choice_count++] =
        (struct web_choice){tg_arena_strdup(page->arena, value),
                            tg_arena_strdup(page->arena, label != NULL ? label : value)};
    at->choices = list;
}

enum tg_class web_refuse(struct web_page *page, const char *name, const char *why)
{
    web_form_refuse(&page->form, name, why);
    return tg_fail(&page->err, TG_CLASS_INVALID, "invalid_fields", "%s", why);
}

/* --- Lists --- */

enum tg_class web_list_page(struct web_page *page, struct tg_page *ret)
{
    const struct web_params *query = &page->request->query;
    const char *limit = web_param(query, "limit");
    char *end = NULL;
    long number = limit == NULL || *limit == '\0' ? TG_PAGE_USUAL : strtol(limit, &end, 10);

    if (number < 1 || number > TG_PAGE_MOST || (end != NULL && *end != '\0'))
        return tg_fail(&page->err, TG_CLASS_INVALID, "invalid_limit", "limit: 1 to %d rows",
                       TG_PAGE_MOST);
    *ret = (struct tg_page){.limit = (int)number,
                            .sort = web_param(query, "sort"),
                            .after = web_param(query, "after")};
    return TG_OK;
}

/* --- Answers --- */

bool web_may(const struct web_page *page, enum access_permission permission)
{
    return access_may(&page->who, permission);
}

void web_put_link(struct web_page *page, const char *key, const char *path, ...)
{
    va_list args;
    char text[512];

    va_start(args, path);
    vsnprintf(text, sizeof text, path, args);
    va_end(args);
    tg_json_put_str(&page->out, key,
                    tg_arena_printf(page->arena, "%s%s", page->request->base, text));
}

void web_go(struct web_page *page, const char *flash, const char *location, ...)
{
    va_list args;
    char path[512];

    va_start(args, location);
    vsnprintf(path, sizeof path, location, args);
    va_end(args);
    page->location = tg_arena_strdup(page->arena, path);
    if (page->flash == NULL)
        page->flash = flash;
}

void web_stream_begin(struct web_page *page, const char *type, const char *file_name)
{
    page->streams = true;
    web_answer_send(page->request->gate, page->request,
                    &(struct web_answer){.status = 200,
                                         .type = type,
                                         .file_name = file_name,
                                         .head = &page->head,
                                         .streams = true});
}

void web_stream(struct web_page *page, const void *bytes, size_t len)
{
    if (!page->request->head)
        web_gate_write(page->request->gate, bytes, len);
}
