/* ledger export, ledger verify. */
#include "admin-cgi/ctl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/store/ledger_export.h"

enum { LISTED_MOST = 100 };

enum tg_class ctl_cmd_ledger_export(struct ctl *ctl, const struct ctl_args *args)
{
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    return class != TG_OK ? class : tg_ledger_export(ctl->main_db, stdout, &ctl->err);
}

static void put_user(struct ctl *ctl, const struct tg_verified_user *user)
{
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "user_id", user->id);
    tg_json_put_int(&ctl->out, "balance_quota", user->balance);
    tg_json_put_int(&ctl->out, "computed_quota", user->credits - user->charges);
    tg_json_put_int(&ctl->out, "credits_quota", user->credits);
    tg_json_put_int(&ctl->out, "credit_entries_quota", user->entries);
    tg_json_put_int(&ctl->out, "charges_quota", user->charges);
    tg_json_end_object(&ctl->out);
}

static bool differs(const struct tg_verified_user *user)
{
    return !user->has_balance || user->balance != user->credits - user->charges ||
           user->credits != user->entries;
}

static void put_verified(struct ctl *ctl, const struct tg_verified *verified)
{
    int64_t count = 0;

    tg_json_begin_object(&ctl->out);
    tg_json_key(&ctl->out, "differences");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < verified->count; i++)
        if (differs(&verified->users[i]) && count++ < LISTED_MOST)
            put_user(ctl, &verified->users[i]);
    tg_json_end_array(&ctl->out);
    ctl->failed = count > 0 || verified->unread > 0;
    tg_json_put_bool(&ctl->out, "clean", !ctl->failed);
    tg_json_put_int(&ctl->out, "difference_count", count);
    tg_json_put_int(&ctl->out, "users", (int64_t)verified->count);
    tg_json_put_int(&ctl->out, "lines", verified->lines);
    tg_json_put_int(&ctl->out, "unread_lines", verified->unread);
    tg_json_end_object(&ctl->out);
}

enum tg_class ctl_cmd_ledger_verify(struct ctl *ctl, const struct ctl_args *args)
{
    const char *name = ctl_option(args, "--from");
    struct tg_verified verified;
    enum tg_class class;
    FILE *file;

    if (name == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--from is missing");
    file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (file == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "%s: %s", name, strerror(errno));
    class = tg_ledger_verify(file, ctl->arena, &verified, &ctl->err);
    if (file != stdin)
        fclose(file);
    if (class == TG_OK)
        put_verified(ctl, &verified);
    return class;
}
