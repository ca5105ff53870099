/* channel_rounds - what workers do over the channels when somebody asks: tests and balances. */
#include "admin-cgi/pages/pages.h"

#include "admin-cgi/worker/probe.h"

const struct web_form_def page_channel_round_fields = {.count = 0};

static enum tg_class ask(struct web_page *page, int64_t channel_id, bool balance, bool *ret_ok)
{
    struct worker_probe probe = {.conf = page->site->conf,
                                 .secrets = &page->site->secrets,
                                 .channel_id = channel_id,
                                 .balance = balance};
    struct tg_buf result;
    enum tg_class class = web_main(page);

    if (class != TG_OK)
        return class;
    probe.main_db = page->main_db;
    page->store = "the gateway";
    tg_buf_init(&result, 0);
    class = worker_probe(&probe, &result, ret_ok, &page->err);
    if (class == TG_OK) {
        tg_json_key(&page->out, "result");
        tg_json_write_raw(&page->out, result.data, result.len);
    }
    tg_buf_done(&result);
    return class;
}

enum tg_class page_channels_test(struct web_page *page)
{
    bool ok;
    enum tg_class class = ask(page, 0, false, &ok);

    if (class == TG_OK)
        web_go(page, "All channels are being tested: look again in a moment.", "channels.cgi");
    return class;
}

enum tg_class page_channels_balances(struct web_page *page)
{
    bool ok;
    enum tg_class class = ask(page, 0, true, &ok);

    if (class == TG_OK)
        web_go(page, "The providers are being asked: look again in a moment.", "channels.cgi");
    return class;
}

enum tg_class page_channel_balance(struct web_page *page)
{
    bool ok = false;
    enum tg_class class = ask(page, page->id, true, &ok);

    if (class == TG_OK)
        web_go(page, ok ? "The balance is up to date." : "The provider did not tell the balance.",
               "channels.cgi/%lld", (long long)page->id);
    return class;
}
