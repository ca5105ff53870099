/* channel_form - what making and changing a channel share: the vendors, the fields, their checks.
 *
 * Errors   a failure names a field of the form.
 * Threads  one.  Blocks  on the main database.
 */
#ifndef TOLLGATE_PAGES_CHANNEL_FORM_H
#define TOLLGATE_PAGES_CHANNEL_FORM_H

#include "admin-cgi/pages/token_form.h"
#include "admin-cgi/web/page.h"
#include "common/store/channel_change.h"

#define PAGE_CHANNEL_NAME \
    {.name = "name", .label = "Name", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 64}
#define PAGE_CHANNEL_URL \
    {.name = "base_url", \
     .label = "Base URL", \
     .kind = WEB_TEXT, \
     .flags = WEB_REQUIRED, \
     .most = 512, \
     .help = "without /chat/completions: https://api.openai.com/v1"}
#define PAGE_CHANNEL_ROUTING \
    {.name = "models", \
     .label = "Models", \
     .kind = WEB_LIST, \
     .flags = WEB_REQUIRED, \
     .most = 2000, \
     .help = "as clients name them, one a line; gpt-4o* takes all that begin so"}, \
        {.name = "groups_list", \
         .label = "Groups that may use it", \
         .kind = WEB_SET, \
         .flags = WEB_REQUIRED, \
         .most = 500}, \
        {.name = "priority", \
         .label = "Priority", \
         .kind = WEB_INTEGER, \
         .least = -1000000, \
         .most = 1000000, \
         .help = "higher ones are asked first"}, \
        {.name = "weight", \
         .label = "Weight", \
         .kind = WEB_INTEGER, \
         .most = 1000000, \
         .help = "its share among those of the same priority"}, \
    { \
        .name = "model_mapping", .label = "Model names of the upstream", .kind = WEB_PAIRS, \
        .help = "where they differ, one a line: gpt-4o = azure-gpt-4o" \
    }
#define PAGE_CHANNEL_REACH \
    {.name = "organisation", .label = "Organisation", .kind = WEB_TEXT, .most = 128}, \
        {.name = "proxy", \
         .label = "Proxy", \
         .kind = WEB_TEXT, \
         .most = 512, \
         .help = "http://, https:// or socks5h://; it is trusted with names and addresses: what " \
                 "net.channel_allow forbids is not checked behind it"}, \
    { \
        .name = "timeouts", .label = "Timeouts", .kind = WEB_PAIRS, .most = 3, \
        .help = "where they differ from the settings: connect = 5s, first_byte = 300s, idle = " \
                "120s, one a line" \
    }

#define PAGE_CHANNEL_LOSS \
    {.name = "loss_policy", \
     .label = "What a conversion may lose", \
     .kind = WEB_CHOICE, \
     .choices = page_loss_policies, \
     .help = "of requests in another protocol than the upstream's; empty: whatever has no " \
             "counterpart"}

/* "providers": [{"word", "label", "base_url", "remark"}] */
void page_put_providers(struct web_page *page) non_null(1);
/* Fills the form of a new channel; false: no such word. */
bool page_provider_fill(struct web_page *page, const char *word) must_check non_null(1, 2);

/* Checks of what was sent, besides those of the fields. <models>: those that the channel will
 * have, NULL when they are not known. */
enum tg_class page_channel_check(struct web_page *page, const char *const *models, size_t count)
    must_check non_null(1);
/* May a socket be opened to <url>? Nobody knows behind a proxy. */
enum tg_class page_channel_check_url(struct web_page *page, const char *url, const char *proxy)
    must_check non_null(1, 2, 3);
/* A refusal of the store, on the field that it is about. */
enum tg_class page_channel_refused(struct web_page *page, enum tg_class class) must_check
    non_null(1);
/* The field "key" without the blanks that copying brings along. */
const char *page_channel_typed_key(const struct web_page *page) must_check non_null(1);
struct tg_key_seal page_channel_seal(const struct web_page *page) must_check non_null(1);
/* May the caller put keys into channels, or send them somewhere else? */
bool page_channel_may_keys(const struct web_page *page) must_check non_null(1);

#endif
