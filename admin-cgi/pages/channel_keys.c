/* channel_keys - the keys of a channel: what is known of them, many added at once, their order,
 * caps, paused and deleted. A key itself is never shown. */
#include "admin-cgi/pages/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin-cgi/pages/channel_form.h"
#include "common/base/money.h"
#include "common/store/channel_change.h"
#include "common/store/view.h"

enum { SAME_SHOWN = 20, CAP_PLACES = 6 };

static const struct web_choice units[] = {
    {"requests", "requests"}, {"tokens", "tokens"}, {"usd", "USD"}, {NULL, NULL}};

#define CAP_FIELDS \
    {.name = "cap_unit", \
     .label = "Cap of a day, in", \
     .kind = WEB_CHOICE, \
     .choices = units, \
     .help = "empty: no cap"}, \
        {.name = "cap", .label = "Cap of a day", .kind = WEB_DECIMAL, .most = CAP_PLACES}, \
        {.name = "reset_hour", \
         .label = "Its day begins at (hour)", \
         .kind = WEB_INTEGER, \
         .most = 23, \
         .help = "0 to 23, in the zone below"}, \
    { \
        .name = "reset_zone", .label = "Zone", .kind = WEB_TEXT, .most = 64, \
        .help = "UTC, America/Los_Angeles, …; empty: UTC" \
    }

/* --- The page ------------------------------------------------------------------------------ */

static enum tg_class view(struct web_page *page)
{
    return page_channel_keys(page);
}

static const struct web_field fields[] = {
    {.name = "keys",
     .label = "Keys, one a line",
     .kind = WEB_SECRETS,
     .flags = WEB_REQUIRED,
     .most = TG_CHANNEL_KEYS_MOST,
     .help = "sealed at once: no page shows more of one than its last four characters; those that "
             "are there already are left out"},
    CAP_FIELDS,
    {.name = "replace",
     .label = "In the place of all keys that the channel has",
     .kind = WEB_BOOL},
};
const struct web_form_def page_channel_keys_form = {.fields = fields,
                                                    .count = TG_COUNT_OF(fields),
                                                    .view = view,
                                                    .submit = "Put them in"};

enum tg_class page_channel_keys(struct web_page *page)
{
    enum tg_class class = web_main(page);

    if (class != TG_OK)
        return class;
    tg_json_put_str(&page->out, "title", "Keys");
    tg_json_put_int(&page->out, "channel_id", page->id); /* beside the ids of its keys */
    class = tg_view_channel_members(page->main_db, page->id, &page->out, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "states");
    class = tg_count_channel_keys(page->main_db, page->id, &page->out, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_key(&page->out, "keys");
    tg_json_begin_object(&page->out);
    class = tg_list_channel_keys(page->main_db, page->id, &page->out, &page->err);
    tg_json_end_object(&page->out);
    return class;
}

static enum tg_class refused(struct web_page *page, const char *keys_field, enum tg_class class)
{
    const struct {
        const char *code, *field;
    } rules[] = {
        {"invalid_cap", "cap"}, {"invalid_zone", "reset_zone"}, {"invalid_key", keys_field}};

    for (size_t i = 0; class == TG_CLASS_INVALID && i < TG_COUNT_OF(rules); i++)
        if (strcmp(page->err.code, rules[i].code) == 0 && rules[i].field != NULL)
            return web_refuse(page, rules[i].field,
                              tg_arena_strdup(page->arena, page->err.message));
    return class;
}

/* --- Caps ---------------------------------------------------------------------------------- */

static enum tg_class read_cap(struct web_page *page, struct tg_key_cap *ret)
{
    const char *text = web_text(page, "cap"), *zone = web_text(page, "reset_zone");
    bool fits;

    *ret = (struct tg_key_cap){.unit = web_text(page, "cap_unit"),
                               .reset_hour = web_number(page, "reset_hour"),
                               .reset_zone = *zone != '\0' ? zone : "UTC"};
    if (*ret->unit == '\0')
        return *text == '\0' ? TG_OK : web_refuse(page, "cap_unit", "in what?");
    if (*text == '\0')
        return web_refuse(page, "cap", "how much?");
    if (strcmp(ret->unit, "usd") == 0) {
        fits = tg_usd_parse(text, &ret->value);
    } else {
        fits = strspn(text, "0123456789") == strlen(text) && strlen(text) < 16;
        ret->value = fits ? strtoll(text, NULL, 10) : 0;
    }
    return fits && ret->value > 0
               ? TG_OK
               : web_refuse(page, "cap", "a whole number, or USD in steps of 0.000002; not 0");
}

static enum tg_class view_cap(struct web_page *page)
{
    return page_channel_key(page);
}

static const struct web_field cap_fields[] = {CAP_FIELDS};
const struct web_form_def page_channel_key_form = {
    .fields = cap_fields, .count = TG_COUNT_OF(cap_fields), .view = view_cap};

static enum tg_class key_id(struct web_page *page, int64_t *ret)
{
    const char *text = page->name;

    *ret = strspn(text, "0123456789") == strlen(text) && strlen(text) < 19
               ? strtoll(text, NULL, 10)
               : 0;
    if (*ret > 0)
        return TG_OK;
    return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "key_not_found",
                   "the channel has no such key");
}

/* 12.5 and not 12.500000 */
static void write_usd(int64_t quota, char text[TG_USD_TEXT])
{
    char *end;

    tg_usd_format(quota, text);
    for (end = text + strlen(text); end[-1] == '0'; end--)
        end[-1] = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

/* The cap as it is written. */
static void put_cap(struct web_page *page, const struct tg_json *key)
{
    struct tg_span unit = {"", 0};
    char text[TG_USD_TEXT] = "";
    int64_t value = 0;

    if (tg_json_get_string(key, "cap_unit", &unit) != TG_JSON_GOT || unit.len == 0 ||
        tg_json_get_int(key, "cap_value", &value) != TG_JSON_GOT)
        return;
    if (unit.len == 3) /* usd */
        write_usd(value, text);
    else
        snprintf(text, sizeof text, "%lld", (long long)value);
    web_put_text(page, "cap", text);
}

enum tg_class page_channel_key(struct web_page *page)
{
    struct tg_json *key = NULL;
    struct tg_json_writer out;
    struct tg_buf buf;
    int64_t id = 0;
    enum tg_class class = key_id(page, &id);

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    if (class == TG_OK)
        class = web_main(page);
    if (class == TG_OK)
        class = tg_view_channel_key(page->main_db, page->id, id, &out, &page->err);
    tg_json_end_object(&out);
    if (class == TG_OK)
        class = tg_json_parse(buf.data, buf.len, &key, &page->err);
    if (class == TG_OK) {
        tg_json_put_str(&page->out, "title", "Cap of a key");
        web_put_link(page, "back", "channels.cgi/%lld/keys", (long long)page->id);
        tg_json_put_str(&page->out, "back_label", "Keys");
        put_cap(page, key);
        class = tg_view_channel_key(page->main_db, page->id, id, &page->out, &page->err);
    }
    tg_json_free(key);
    tg_buf_done(&buf);
    return class;
}

static enum tg_class check_owner(struct web_page *page, int64_t id)
{
    int64_t channel_id = 0;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_channel_key_owner(page->main_db, id, &channel_id, &page->err);
    if (class == TG_OK && channel_id != page->id)
        class = tg_fail(&page->err, TG_CLASS_NOT_FOUND, "key_not_found",
                        "the channel has no such key");
    return class;
}

enum tg_class page_channel_key_cap(struct web_page *page)
{
    struct tg_key_cap cap;
    int64_t id = 0;
    enum tg_class class = key_id(page, &id);

    if (class == TG_OK)
        class = check_owner(page, id);
    if (class == TG_OK)
        class = read_cap(page, &cap);
    if (class == TG_OK)
        class = refused(page, NULL,
                        tg_store_channel_key_cap(page->main_db, &page->actor, id, &cap,
                                                 &page->err));
    if (class != TG_OK)
        return class;
    web_tell(page, "channels");
    web_go(page, "The cap is set.", "channels.cgi/%lld/keys", (long long)page->id);
    return tg_view_channel_key(page->main_db, page->id, id, &page->out, &page->err);
}

/* --- Adding -------------------------------------------------------------------------------- */

static enum tg_class add(struct web_page *page, struct tg_channel_keys_new *keys)
{
    keys->seal = page_channel_seal(page);
    return tg_store_channel_keys_add(page->main_db, &page->actor, keys, &page->err);
}

/* "same": the numbers of those that were left out, from 1. */
static void put_added(struct web_page *page, const struct tg_channel_keys_new *keys)
{
    const long long added = (long long)(keys->count - keys->same_count);
    const char *numbers = "";
    size_t shown = 0;

    tg_json_put_int(&page->out, "channel_id", page->id);
    tg_json_put_int(&page->out, "added", added);
    tg_json_key(&page->out, "same");
    tg_json_begin_array(&page->out);
    for (size_t i = 0; i < keys->count; i++) {
        if (!keys->same[i])
            continue;
        tg_json_write_int(&page->out, (int64_t)i + 1);
        if (++shown <= SAME_SHOWN)
            numbers = tg_arena_printf(page->arena, "%s%s%zu", numbers, shown > 1 ? ", " : "",
                                      i + 1);
    }
    tg_json_end_array(&page->out);
    if (shown == 0)
        web_go(page, added == 1 ? "The key is in." : "The keys are in.", "channels.cgi/%lld/keys",
               (long long)page->id);
    else
        web_go(page,
               tg_arena_printf(page->arena,
                               "%lld are in. %zu are left out, the channel has them already or "
                               "they came twice: number %s%s",
                               added, shown, numbers, shown > SAME_SHOWN ? ", …" : ""),
               "channels.cgi/%lld/keys", (long long)page->id);
}

enum tg_class page_channel_keys_add(struct web_page *page)
{
    const struct web_value *sent = web_value(page, "keys");
    struct tg_key_cap cap;
    struct tg_channel_keys_new keys = {.channel_id = page->id,
                                       .keys = sent->items,
                                       .count = sent->count,
                                       .replace = web_number(page, "replace") != 0};
    enum tg_class class = read_cap(page, &cap);

    keys.cap = &cap;
    keys.same = tg_arena_calloc(page->arena, sent->count, sizeof *keys.same);
    if (class == TG_OK)
        class = web_main(page);
    if (class != TG_OK)
        return class;
    class = add(page, &keys);
    if (web_other_secrets(page, class))
        class = add(page, &keys);
    class = refused(page, "keys", class);
    if (class != TG_OK)
        return class;
    page->status = 201;
    put_added(page, &keys);
    web_tell(page, "channels");
    return TG_OK;
}

/* --- States and the order ------------------------------------------------------------------ */

static const struct web_choice states[] = {
    {"active", "active"}, {"disabled", "disabled"}, {"deleted", "deleted"}, {NULL, NULL}};
static const struct web_field set_fields[] = {
    {.name = "key_id", .label = "Key", .kind = WEB_INTEGER, .flags = WEB_REQUIRED},
    {.name = "state",
     .label = "State",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = states},
};
const struct web_form_def page_channel_key_set_fields = {.fields = set_fields,
                                                         .count = TG_COUNT_OF(set_fields)};

enum tg_class page_channel_key_set(struct web_page *page)
{
    int64_t id = web_number(page, "key_id");
    enum tg_class class = check_owner(page, id);

    if (class == TG_OK)
        class = tg_store_channel_key_set(page->main_db, &page->actor, id, web_text(page, "state"),
                                         &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "id", id);
    tg_json_put_str(&page->out, "state", web_text(page, "state"));
    web_tell(page, "channels");
    web_go(page, "The key is changed.", "channels.cgi/%lld/keys", (long long)page->id);
    return TG_OK;
}

static const struct web_choice modes[] = {{"order", "in order: room first"},
                                          {"polling", "in turn"},
                                          {"random", "at random"},
                                          {NULL, NULL}};
static const struct web_field mode_fields[] = {
    {.name = "key_mode",
     .label = "Order",
     .kind = WEB_CHOICE,
     .flags = WEB_REQUIRED,
     .choices = modes},
};
const struct web_form_def page_channel_key_mode_fields = {.fields = mode_fields,
                                                          .count = TG_COUNT_OF(mode_fields)};

enum tg_class page_channel_key_mode(struct web_page *page)
{
    const char *mode = web_text(page, "key_mode");
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_channel_key_mode(page->main_db, &page->actor, page->id,
                                          strcmp(mode, "order") == 0 ? "" : mode, &page->err);
    if (class != TG_OK)
        return class;
    tg_json_put_int(&page->out, "channel_id", page->id);
    tg_json_put_str(&page->out, "key_mode", mode);
    web_tell(page, "channels");
    web_go(page, "The order is set.", "channels.cgi/%lld/keys", (long long)page->id);
    return TG_OK;
}
