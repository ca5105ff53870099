/* audit-log verify, audit-log list. */
#include "admin-cgi/ctl/commands.h"

#include "common/base/clock.h"
#include "common/store/list.h"

enum tg_class ctl_cmd_audit_log_verify(struct ctl *ctl, const struct ctl_args *args)
{
    int64_t broken = 0;
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    if (class == TG_OK)
        class = tg_change_chain_check(ctl->main_db, &broken, &ctl->err);
    if (class != TG_OK)
        return class;
    ctl->failed = broken != 0;
    tg_json_begin_object(&ctl->out);
    tg_json_put_bool(&ctl->out, "whole", broken == 0);
    if (broken > 0)
        tg_json_put_int(&ctl->out, "first_broken_id", broken);
    if (broken < 0)
        tg_json_put_str(&ctl->out, "broken", "the newest rows are missing");
    tg_json_end_object(&ctl->out);
    return TG_OK;
}

static enum tg_class read_time(struct ctl *ctl, const char *text, int64_t *ret)
{
    if (text == NULL || tg_time_parse(text, ret))
        return TG_OK;
    return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                   "a time is written like 2027-01-31T00:00:00Z");
}

enum tg_class ctl_cmd_audit_log_list(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_audit_filter filter = {.action = ctl_option(args, "--action"),
                                     .object_type = ctl_option(args, "--type"),
                                     .object_id = ctl_option(args, "--object")};
    struct tg_page page = {.after = ctl_option(args, "--after")};
    int64_t limit = TG_PAGE_USUAL;
    enum tg_class class = ctl_option_int(args, "--limit", &limit, &ctl->err);

    if (class == TG_OK && (limit < 1 || limit > TG_PAGE_MOST))
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--limit is 1 to %d", TG_PAGE_MOST);
    if (class == TG_OK)
        class = read_time(ctl, ctl_option(args, "--from"), &filter.from_unix_us);
    if (class == TG_OK)
        class = read_time(ctl, ctl_option(args, "--to"), &filter.to_unix_us);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    page.limit = (int)limit;
    ctl->columns = "id at actor action object_type object_id before_json after_json";
    tg_json_begin_object(&ctl->out);
    class = tg_list_audit(ctl->main_db, &filter, &page, &ctl->out, &ctl->err);
    tg_json_end_object(&ctl->out);
    return class;
}
