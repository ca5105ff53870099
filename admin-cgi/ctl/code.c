/* code create, code redeem. */
#include "admin-cgi/ctl/commands.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/money.h"
#include "common/crypto/crypto.h"
#include "common/store/code.h"
#include "common/store/user.h"

enum { COUNT_MOST = 1000 };

static enum tg_class read_wish(struct ctl *ctl, const struct ctl_args *args,
                               struct tg_code_new *code, int64_t *ret_count)
{
    const char *expires = ctl_option(args, "--expires");

    if (!tg_usd_parse(args->positionals[0], &code->quota))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "an amount is USD in decimals: 12.5");
    if (expires != NULL && !tg_time_parse(expires, &code->expires_unix_us))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "--expires is a time like 2027-01-31T00:00:00Z");
    code->batch = ctl_option_or(args, "--batch", "");
    if (ctl_option_int(args, "--count", ret_count, &ctl->err) != TG_OK)
        return ctl->err.class;
    if (*ret_count < 1 || *ret_count > COUNT_MOST)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--count is 1 to %d", COUNT_MOST);
    return TG_OK;
}

enum tg_class ctl_cmd_code_create(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_code_new code = {.quota = 0};
    char text[TG_CODE_TEXT];
    int64_t count = 1;
    enum tg_class class = read_wish(ctl, args, &code, &count);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_key(&ctl->out, "codes"); /* shown once */
    tg_json_begin_array(&ctl->out);
    for (int64_t i = 0; class == TG_OK && i < count; i++) {
        class = tg_store_code_add(ctl->main_db, &ctl->actor, &code, text, &ctl->err);
        if (class == TG_OK)
            tg_json_write_str(&ctl->out, text);
    }
    tg_json_end_array(&ctl->out);
    tg_json_put_int(&ctl->out, "quota", code.quota);
    tg_json_end_object(&ctl->out);
    tg_wipe(text, sizeof text);
    return class;
}

static enum tg_class redeem(struct ctl *ctl, const char *user, const char *text)
{
    struct tg_code_redeem wish = {.text = text};
    struct tg_entry entry;
    char id[TG_ID_TEXT];
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = tg_store_user_id(ctl->main_db, user, &wish.user_id, &ctl->err);
    if (class == TG_OK)
        class = tg_store_code_redeem(ctl->main_db, &ctl->actor, &wish, &entry, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_id_format(&entry.id, id);
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "entry_id", id);
    tg_json_put_int(&ctl->out, "amount_quota", -entry.amount_quota);
    tg_json_put_bool(&ctl->out, "pushed", ctl_push(ctl, &entry));
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

enum tg_class ctl_cmd_code_redeem(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_buf text;
    enum tg_class class;

    tg_buf_init(&text, 0);
    class = ctl_secret(ctl, args, "code", &text);
    if (class == TG_OK)
        class = redeem(ctl, args->positionals[0], tg_buf_text(&text));
    tg_buf_done(&text);
    return class;
}
