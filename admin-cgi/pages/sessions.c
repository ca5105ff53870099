/* sessions - where one is logged in, and ending it. */
#include "admin-cgi/pages/pages.h"

#include "admin-cgi/pages/person.h"
#include "common/store/session.h"

static void write_session(struct web_page *page, const struct tg_session *session)
{
    struct tg_json_writer *out = &page->out;

    tg_json_begin_object(out);
    tg_json_put_int(out, "id", session->id);
    tg_json_put_str(out, "device", session->device);
    tg_json_put_str(out, "address", session->address);
    page_put_time(out, "created_at", session->created_unix_us);
    page_put_time(out, "last_seen_at", session->last_seen_unix_us);
    page_put_time(out, "expires_at", session->expires_unix_us);
    tg_json_put_bool(out, "current", session->id == page->who.session_id);
    tg_json_end_object(out);
}

enum tg_class page_sessions(struct web_page *page)
{
    struct tg_session *sessions = NULL;
    size_t count = 0;
    enum tg_class class = web_main(page);

    tg_json_put_str(&page->out, "title", "Sessions");
    if (class != TG_OK)
        return class;
    class = tg_store_sessions(page->main_db, page->arena, page->who.user_id, &sessions, &count);
    if (class != TG_OK) {
        page->err = *tg_db_error(page->main_db);
        return class;
    }
    tg_json_key(&page->out, "rows");
    tg_json_begin_array(&page->out);
    for (size_t i = 0; i < count; i++)
        if (sessions[i].authver == page->who.authver)
            write_session(page, &sessions[i]);
    tg_json_end_array(&page->out);
    return TG_OK;
}

static enum tg_class end(struct web_page *page, const struct tg_session_end *wish)
{
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_session_end(page->main_db, &page->actor, wish, &page->err);
    return class;
}

enum tg_class page_session_end(struct web_page *page)
{
    enum tg_class class = end(page, &(struct tg_session_end){page->who.user_id, page->id, 0});

    if (class == TG_OK)
        web_go(page, "The session has ended.", "account.cgi/sessions");
    return class;
}

enum tg_class page_sessions_end(struct web_page *page)
{
    const struct tg_session_end wish = {page->who.user_id, 0, page->who.session_id};
    enum tg_class class = end(page, &wish);

    if (class == TG_OK || class == TG_CLASS_NOT_FOUND)
        web_go(page, "All other sessions have ended.", "account.cgi/sessions");
    return class == TG_CLASS_NOT_FOUND ? TG_OK : class;
}
