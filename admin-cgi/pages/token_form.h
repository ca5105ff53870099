/* token_form - what making and changing a token share.
 *
 * Errors   those of the stores; a failure names a field of the form.
 * Threads  one.  Blocks  on the main database.
 */
#ifndef TOLLGATE_PAGES_TOKEN_FORM_H
#define TOLLGATE_PAGES_TOKEN_FORM_H

#include "admin-cgi/web/page.h"

#define PAGE_TOKEN_NAME \
    {.name = "name", .label = "Name", .kind = WEB_TEXT, .flags = WEB_REQUIRED, .most = 64}
#define PAGE_TOKEN_LIMIT \
    {.name = "limit", \
     .label = "Limit in USD", \
     .kind = WEB_USD, \
     .most = TG_QUOTA_MAX, \
     .help = "what may still be spent with it; empty: as much as the account has"}
#define PAGE_TOKEN_EXPIRES \
    {.name = "expires_at", .label = "Valid until", .kind = WEB_TIME, .help = "empty: for ever"}
#define PAGE_TOKEN_GROUP \
    {.name = "group_name", .label = "Group", .kind = WEB_CHOICE, .help = "empty: the account's"}
#define PAGE_TOKEN_AUTO \
    {.name = "auto_groups", \
     .label = "Groups of auto", \
     .kind = WEB_LIST, \
     .most = 100, \
     .help = "in the order of their use, one a line; empty: those of the settings"}, \
    { \
        .name = "cross_group_retry", .label = "A retry may go on in the next group", \
        .kind = WEB_BOOL \
    }
/* An empty list means every model, or none: the box tells which. */
#define PAGE_TOKEN_MODELS \
    {.name = "limit_models", .label = "Only the models listed here", .kind = WEB_BOOL}, \
    { \
        .name = "model_limits", .label = "Models", .kind = WEB_LIST, .most = 500, \
        .help = "one a line" \
    }
#define PAGE_TOKEN_ADDRESSES \
    {.name = "allow_addresses", \
     .label = "Addresses it may be used from", \
     .kind = WEB_CIDRS, \
     .most = 200, \
     .help = "addresses and networks like 10.0.0.0/8 or 2001:db8::/32, one a line; empty: from " \
             "anywhere"}

#define PAGE_TOKEN_LOSS \
    {.name = "loss_policy", \
     .label = "What a conversion may lose", \
     .kind = WEB_CHOICE, \
     .choices = page_loss_policies, \
     .help = "between protocols; empty: as the channel says"}
extern const struct web_choice page_loss_policies[]; /* of channels too */

/* May the caller see (or change) the tokens of everybody? */
bool page_tokens_may_all(const struct web_page *page, enum access_permission permission)
    must_check non_null(1);
/* The models that the form allows: NULL for all. */
const char *const *page_token_models(const struct web_page *page, size_t *ret_count) must_check
    non_null(1, 2);
/* Choices of "group_name": those that a member of <user_group> may use. */
enum tg_class page_token_groups(struct web_page *page, const char *user_group) must_check
    non_null(1, 2);
/* And "auto", which stands for several. */
void page_token_put_auto(struct web_page *page) non_null(1);
/* Refuses the field when <group> is none of them. */
enum tg_class page_token_check_group(struct web_page *page, const char *user_group,
                                     const char *group) must_check non_null(1, 2, 3);
/* One that may be read may not always be changed: of somebody of a higher role only by root. */
bool page_token_below(const struct web_page *page, const struct tg_person *owner) must_check
    non_null(1, 2);

#endif
