/* settings - every option: its meaning, default, value and where that comes from; those that are
 * safe to change while requests run are changed here, for all nodes.
 *
 * The conf file that is read is the console's; on nodes with other files their own value may stand
 * behind the database's. Passwords are in files that the conf names, so no value is a secret.
 */
#include "admin-cgi/pages/pages.h"

#include <stdlib.h>
#include <string.h>

#include "common/conf/value.h"
#include "common/store/option.h"

/* ---- the settings in force ---- */

struct row {
    enum tg_option_id id;
    const char *value, *source;
    const char *database; /* the row's value, also when it is in force nowhere; NULL: none */
};

static const char *source_name(enum tg_conf_source source)
{
    static const char *const names[] = {[TG_CONF_FROM_DEFAULT] = "default",
                                        [TG_CONF_FROM_ENVIRONMENT] = "environment",
                                        [TG_CONF_FROM_FILE] = "file",
                                        [TG_CONF_FROM_DATABASE] = "database"};

    return names[source];
}

static enum tg_class read_rows(struct web_page *page, struct tg_conf_overlay **ret, size_t *count)
{
    enum tg_class class = web_main(page);

    return class == TG_OK
               ? tg_store_options(page->main_db, page->arena, ret, count, &page->err)
               : class;
}

static struct row row_of(struct web_page *page, enum tg_option_id id,
                         const struct tg_conf_overlay *overlay, size_t count)
{
    struct row row = {.id = id,
                      .value = tg_conf_shown(page->site->conf, id),
                      .source = source_name(tg_conf_source(page->site->conf, id))};
    struct tg_error unused;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(overlay[i].name, tg_options[id].name) != 0)
            continue;
        row.database = overlay[i].value;
        if (tg_conf_check_overlay(&overlay[i], &unused) != TG_OK)
            continue;
        row.value = overlay[i].value;
        row.source = source_name(TG_CONF_FROM_DATABASE);
    }
    return row;
}

static void put_bound(struct tg_json_writer *out, const char *key, const struct tg_option *option,
                      int64_t bound)
{
    char text[TG_BOUND_TEXT];

    if (option->least == 0 && option->most == 0)
        return;
    tg_option_bound(option->type, bound, text);
    tg_json_put_str(out, key, text);
}

static void write_row(struct tg_json_writer *out, const struct row *row)
{
    const struct tg_option *option = &tg_options[row->id];

    tg_json_put_str(out, "name", option->name);
    tg_json_put_str(out, "value", row->value);
    tg_json_put_str(out, "source", row->source);
    tg_json_put_str(out, "meaning", option->meaning);
    tg_json_put_str(out, "default", option->fallback);
    put_bound(out, "least", option, option->least);
    put_bound(out, "most", option, option->most);
    tg_json_put_bool(out, "changeable", (option->flags & TG_OPTION_DATABASE) != 0);
    tg_json_put_bool(out, "needs_restart", (option->flags & TG_OPTION_START) != 0);
    tg_json_put_bool(out, "in_database", row->database != NULL);
}

enum tg_class page_settings(struct web_page *page)
{
    struct tg_conf_overlay *overlay = NULL;
    size_t count = 0;
    enum tg_class class = read_rows(page, &overlay, &count);

    tg_json_put_str(&page->out, "title", "Settings");
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "rows");
    tg_json_begin_array(&page->out);
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        const struct row row = row_of(page, (enum tg_option_id)i, overlay, count);

        tg_json_begin_object(&page->out);
        write_row(&page->out, &row);
        tg_json_end_object(&page->out);
    }
    tg_json_end_array(&page->out);
    return TG_OK;
}

/* ---- one of them ---- */

static enum tg_class view(struct web_page *page)
{
    return page_setting(page);
}

static const struct web_field fields[] = {
    {.name = "value", .label = "Value for all nodes", .kind = WEB_TEXT, .most = 2000},
};
const struct web_form_def page_setting_form = {.fields = fields,
                                               .count = TG_COUNT_OF(fields),
                                               .view = view,
                                               .submit = "Set it for all nodes"};

static enum tg_class find(struct web_page *page, enum tg_option_id *ret)
{
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        if (strcmp(tg_options[i].name, page->name) == 0) {
            *ret = (enum tg_option_id)i;
            return TG_OK;
        }
    }
    return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "option_not_found",
                   "there is no option of that name");
}

enum tg_class page_setting(struct web_page *page)
{
    struct tg_conf_overlay *overlay = NULL;
    size_t count = 0;
    enum tg_option_id id = TG_OPTION__COUNT;
    struct row row;
    enum tg_class class = find(page, &id);

    if (class == TG_OK)
        class = read_rows(page, &overlay, &count);
    if (class != TG_OK)
        return class;
    row = row_of(page, id, overlay, count);
    tg_json_put_str(&page->out, "title", tg_options[id].name);
    write_row(&page->out, &row);
    return TG_OK;
}

static enum tg_class set(struct web_page *page, const char *value)
{
    enum tg_option_id id = TG_OPTION__COUNT;
    enum tg_class class = find(page, &id);

    if (class == TG_OK)
        class = web_main(page);
    if (class == TG_OK)
        class = tg_store_option_set(page->main_db, &page->actor, tg_options[id].name, value,
                                    &page->err);
    if (class == TG_CLASS_INVALID)
        return web_refuse(page, "value", tg_arena_strdup(page->arena, page->err.message));
    if (class != TG_OK)
        return class;
    web_tell(page, "options");
    web_go(page, value != NULL ? "It is set for all nodes." : "The conf file's value holds again.",
           "settings.cgi/%s", tg_options[id].name);
    return page_setting(page);
}

enum tg_class page_setting_change(struct web_page *page)
{
    return set(page, web_text(page, "value"));
}

enum tg_class page_setting_reset(struct web_page *page)
{
    return set(page, NULL);
}
