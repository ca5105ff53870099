/* show user, token, channel, request. */
#include "admin-cgi/ctl/commands.h"

#include <ctype.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/json/json.h"
#include "common/store/story.h"
#include "common/store/user.h"
#include "common/store/view.h"

static const int64_t live_wait_us = 1000000;

static void put_quota(struct ctl *ctl, const char *name, int64_t quota)
{
    char usd[TG_USD_TEXT];

    tg_usd_format(quota, usd);
    tg_json_put_int(&ctl->out, name, quota);
    tg_json_put_str(&ctl->out, tg_arena_printf(ctl->arena, "%s_usd", name), usd);
}

/* The live books as well, when they can be reached: they are ahead of the row by what is not
 * applied yet, and know the open holds. */
static void put_live(struct ctl *ctl, int64_t user_id)
{
    struct tg_live_account live;
    struct tg_error err;

    if (ctl_open_ledger(ctl) != TG_OK ||
        tg_ledger_look(ctl->ledger, user_id, tg_now_us() + live_wait_us, &live, &err) !=
            TG_LEDGER_OK) {
        ctl_remark("the live balance in Redis cannot be read now");
        return;
    }
    put_quota(ctl, "live_quota", live.quota);
    put_quota(ctl, "held_quota", live.held_quota);
}

enum tg_class ctl_cmd_show_user(struct ctl *ctl, const struct ctl_args *args)
{
    const char *name = args->positionals[0];
    int64_t id = 0;
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_user_id(ctl->main_db, name, &id, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    class = tg_view_user(ctl->main_db, name, &ctl->out, &ctl->err);
    if (class == TG_OK)
        put_live(ctl, id);
    tg_json_end_object(&ctl->out);
    return class;
}

enum tg_class ctl_cmd_show_token(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    return class == TG_OK ? tg_view_token(ctl->main_db, id, &ctl->out, &ctl->err) : class;
}

enum tg_class ctl_cmd_show_channel(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t id = 0;
    enum tg_class class = ctl_id(args->positionals[0], &id, &ctl->err);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    return class == TG_OK ? tg_view_channel(ctl->main_db, id, &ctl->out, &ctl->err) : class;
}

/* With or without dashes, as logs of others may have it. */
static bool read_request_id(const char *text, struct tg_id *ret)
{
    char dashed[TG_ID_TEXT];
    size_t len = 0;

    if (strlen(text) != 32)
        return tg_id_parse(text, ret);
    for (int i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            dashed[len++] = '-';
        dashed[len++] = (char)tolower((unsigned char)text[i]);
    }
    dashed[len] = '\0';
    return tg_id_parse(dashed, ret);
}

static enum tg_class read_request(struct ctl *ctl, const struct ctl_args *args,
                                  struct tg_json_writer *out)
{
    struct tg_id id;
    enum tg_class class;

    if (!read_request_id(args->positionals[0], &id))
        return tg_fail(&ctl->err, TG_CLASS_NOT_FOUND, "request_not_found",
                       "%s is no request id (x-request-id of an answer)", args->positionals[0]);
    class = ctl_open_log(ctl);
    return class == TG_OK ? tg_view_request(ctl->log_db, &id, out, &ctl->err) : class;
}

enum tg_class ctl_cmd_show_request(struct ctl *ctl, const struct ctl_args *args)
{
    return read_request(ctl, args, &ctl->out);
}

/* For people one sentence a line; {"story":[...],"request":{...}} for programs. */
static void put_story(struct ctl *ctl, const struct tg_json *request, const struct tg_buf *text)
{
    struct tg_json_writer story;
    struct tg_json *list;
    struct tg_span line;
    struct tg_buf buf;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&story, &buf);
    tg_story_write(request, &story);
    if (ctl->json) {
        tg_json_begin_object(&ctl->out);
        tg_json_key(&ctl->out, "story");
        tg_json_write_raw(&ctl->out, buf.data, buf.len);
        tg_json_key(&ctl->out, "request");
        tg_json_write_raw(&ctl->out, text->data, text->len);
        tg_json_end_object(&ctl->out);
    } else if (tg_json_parse(buf.data, buf.len, &list, &ctl->err) == TG_OK) {
        for (size_t i = 0; i < tg_json_array_len(list); i++)
            if (tg_json_string(tg_json_array_at(list, i), &line))
                ctl_print_line(line);
        tg_json_free(list);
    }
    tg_buf_done(&buf);
}

enum tg_class ctl_cmd_explain(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_json *request;
    struct tg_json_writer out;
    struct tg_buf text;
    enum tg_class class;

    tg_buf_init(&text, 0);
    tg_json_writer_init(&out, &text);
    class = read_request(ctl, args, &out);
    if (class == TG_OK)
        class = tg_json_parse(tg_buf_text(&text), text.len, &request, &ctl->err);
    if (class == TG_OK) {
        put_story(ctl, request, &text);
        tg_json_free(request);
    }
    tg_buf_done(&text);
    return class;
}
