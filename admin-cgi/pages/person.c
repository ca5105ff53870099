#include "admin-cgi/pages/person.h"

#include "admin-cgi/access/login.h"
#include "common/base/clock.h"
#include "common/store/group_view.h"
#include "common/store/user.h"

enum tg_class page_person_find(struct web_page *page, int64_t id, struct tg_person **ret)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_person(page->main_db, page->arena, id, ret, &page->err);
    if (class == TG_OK && *ret == NULL)
        class = tg_fail(&page->err, TG_CLASS_NOT_FOUND, "user_not_found", "there is no such user");
    return class;
}

void page_put_time(struct tg_json_writer *out, const char *key, int64_t unix_us)
{
    char text[TG_TIME_TEXT];

    if (unix_us > 0)
        tg_time_format(unix_us, text);
    tg_json_put_str(out, key, unix_us > 0 ? text : NULL);
}

void page_person_write(struct web_page *page, const struct tg_person *person)
{
    struct tg_json_writer *out = &page->out;

    tg_json_put_int(out, "id", person->id);
    tg_json_put_str(out, "username", person->username);
    tg_json_put_str(out, "role", person->role);
    tg_json_put_str(out, "status", tg_status_name(person->status));
    tg_json_put_str(out, "group_name", person->group_name);
    tg_json_put_str(out, "team", person->team);
    tg_json_put_str(out, "time_zone", person->time_zone);
    tg_json_put_bool(out, "accept_unpriced", person->accept_unpriced);
    tg_json_put_int(out, "quota", person->quota);
    tg_json_put_int(out, "used_quota", person->used_quota);
    tg_json_put_int(out, "request_count", person->request_count);
    tg_json_put_bool(out, "has_password", person->password_hash != NULL);
    page_put_time(out, "created_at", person->created_unix_us);
}

enum tg_class page_person_change(struct web_page *page, const struct tg_person_change *wish)
{
    struct tg_apply apply;
    bool pushed = false;
    enum tg_class class = web_apply(page, &apply);

    if (class == TG_OK)
        class = tg_apply_person(&apply, wish, &pushed, &page->err);
    if (class == TG_OK)
        tg_json_put_bool(&page->out, "pushed", pushed);
    return class;
}

enum tg_class page_password_hash(struct web_page *page, const char *password, const char **ret)
{
    struct tg_buf hash;
    enum tg_class class;

    tg_buf_init(&hash, 0);
    class = access_password_hash(page, password, &hash);
    if (class == TG_OK)
        *ret = tg_arena_strdup(page->arena, tg_buf_text(&hash));
    tg_buf_done(&hash);
    return class;
}

struct choices {
    struct web_page *page;
    const char *field;
};

static void add_group(void *context, const char *name)
{
    struct choices *choices = context;

    web_put_choice(choices->page, choices->field, name, NULL);
}

enum tg_class page_put_groups(struct web_page *page, const char *name)
{
    struct choices choices = {page, name};
    enum tg_class class = web_main(page);

    return class == TG_OK ? tg_each_group(page->main_db, add_group, &choices, &page->err) : class;
}
