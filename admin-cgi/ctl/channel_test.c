/* channel test, channel balance: a worker is asked to make the call, or to begin a round. */
#include "admin-cgi/ctl/commands.h"

#include "admin-cgi/worker/probe.h"

/* One channel by its id, or all of them. */
static enum tg_class read_channel(struct ctl *ctl, const struct ctl_args *args, int64_t *ret_id)
{
    bool all = ctl_option(args, "--all") != NULL;

    *ret_id = 0;
    if (all == (args->positional_count == 1))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "one channel, or --all");
    return all ? TG_OK : ctl_id(args->positionals[0], ret_id, &ctl->err);
}

static enum tg_class run(struct ctl *ctl, const struct ctl_args *args, bool balance)
{
    struct worker_probe probe = {
        .conf = ctl->conf, .secrets = &ctl->secrets, .balance = balance};
    struct tg_buf document;
    bool ok = false;
    enum tg_class class = read_channel(ctl, args, &probe.channel_id);

    if (class == TG_OK)
        class = ctl_open_secrets(ctl);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    probe.main_db = ctl->main_db;
    tg_buf_init(&document, 0);
    class = worker_probe(&probe, &document, &ok, &ctl->err);
    if (class == TG_OK)
        tg_json_write_raw(&ctl->out, document.data, document.len);
    ctl->failed = !ok;
    tg_buf_done(&document);
    return class;
}

enum tg_class ctl_cmd_channel_test(struct ctl *ctl, const struct ctl_args *args)
{
    return run(ctl, args, false);
}

enum tg_class ctl_cmd_channel_balance(struct ctl *ctl, const struct ctl_args *args)
{
    return run(ctl, args, true);
}
