/* routing - everything the snapshot is built from, read in one consistent transaction.
 *
 * Owns  all strings live in the arena given; keys are still sealed.
 */
#ifndef TOLLGATE_STORE_ROUTING_H
#define TOLLGATE_STORE_ROUTING_H

#include "common/base/arena.h"
#include "common/sql/db.h"
#include "common/store/price.h"

struct tg_channel_row {
    int64_t id;
    const char *name, *provider, *base_url, *organisation, *proxy;
    const char *model_mapping; /* JSON object client -> upstream, or "" */
    const char *timeouts;      /* JSON {"connect":"5s","first_byte":…,"idle":…} or "" */
    const char *status_mapping, *param_override, *header_override; /* JSON or "" */
    const char *loss_policy; /* "" for none */
    bool bill_upstream;
    bool auto_disable;
    bool off; /* disabled by itself: it has no abilities, and may only be tested */
    int64_t priority, weight;
    const char *key_mode; /* "" for in order, polling, random */
    const char *test_model; /* "": its models are but patterns */
    const char *balance_from; /* as fcgi-app/provider/balance.h has it */
};
struct tg_channel_key_row {
    int64_t id, channel_id, position;
    struct tg_span sealed;
    int64_t key_version;
    const char *hint; /* last four characters */
    const char *state;
    int64_t state_until_us, state_event;
    const char *cap_unit; /* "" for no cap */
    int64_t cap_value;    /* usd: in quota */
    int64_t reset_hour;
    const char *reset_zone;
    int64_t used, used_since_us;
};
struct tg_ability_row {
    const char *group_name, *model;
    int64_t channel_id, priority, weight;
};
struct tg_group_row {
    const char *name, *ratio, *order_mode;
    const char *deposit_factor; /* "": the settings' */
};
struct tg_group_access_row {
    const char *user_group, *used_group, *ratio; /* ratio "" = no override */
    bool allowed;
};

/* What a sealed key is bound to (the aad of tg_seal and tg_unseal): "channel_key:ID". */
enum { TG_KEY_AAD_TEXT = 40 };
void tg_channel_key_aad(int64_t key_id, char text[TG_KEY_AAD_TEXT]);

struct tg_routing_rows {
    int64_t version;
    struct tg_channel_row *channels; /* but those that are disabled by hand */
    size_t channel_count;
    struct tg_channel_key_row *keys; /* all but disabled ones */
    size_t key_count;
    struct tg_ability_row *abilities; /* enabled only */
    size_t ability_count;
    struct tg_price_row *prices;
    size_t price_count;
    struct tg_group_row *groups;
    size_t group_count;
    struct tg_group_access_row *access;
    size_t access_count;
};

/* The number that every change of routing data raises in the same transaction. */
enum tg_class tg_store_routing_version(struct tg_db *db, int64_t *ret, struct tg_error *err)
    must_check non_null(1, 2);
enum tg_class tg_store_routing_read(struct tg_db *db, struct tg_arena *arena,
                                    struct tg_routing_rows *ret, struct tg_error *err) must_check
    non_null(1, 2, 3);

#endif
