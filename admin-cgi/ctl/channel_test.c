/* channel test: a worker is asked to make the call. */
#include "admin-cgi/ctl/commands.h"

#include "admin-cgi/worker/probe.h"

enum tg_class ctl_cmd_channel_test(struct ctl *ctl, const struct ctl_args *args)
{
    struct worker_probe probe = {.conf = ctl->conf, .secrets = &ctl->secrets};
    struct tg_buf document;
    bool ok = false;
    enum tg_class class = ctl_id(args->positionals[0], &probe.channel_id, &ctl->err);

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
