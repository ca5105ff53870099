/* account - what a person sees and changes about oneself. */
#include "admin-cgi/pages/pages.h"

#include "common/base/clock.h"
#include "common/store/person.h"

static void put_time(struct tg_json_writer *out, const char *key, int64_t unix_us)
{
    char text[TG_TIME_TEXT];

    if (unix_us > 0)
        tg_time_format(unix_us, text);
    tg_json_put_str(out, key, unix_us > 0 ? text : NULL);
}

enum tg_class page_account(struct web_page *page)
{
    struct tg_person *person = NULL;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_person(page->main_db, page->arena, page->who.user_id, &person, &page->err);
    if (class != TG_OK)
        return class;
    tg_assert(person != NULL); /* admit has just read it */
    tg_json_put_str(&page->out, "title", "Account");
    tg_json_put_int(&page->out, "id", person->id);
    tg_json_put_str(&page->out, "username", person->username);
    tg_json_put_str(&page->out, "role", person->role);
    tg_json_put_str(&page->out, "group_name", person->group_name);
    tg_json_put_str(&page->out, "team", person->team);
    tg_json_put_str(&page->out, "time_zone", person->time_zone);
    tg_json_put_int(&page->out, "quota", person->quota);
    tg_json_put_int(&page->out, "used_quota", person->used_quota);
    tg_json_put_int(&page->out, "request_count", person->request_count);
    put_time(&page->out, "created_at", person->created_unix_us);
    return TG_OK;
}
