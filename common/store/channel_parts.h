/* channel_parts - what adding and changing a channel share. For common/store only.
 *
 * Errors   as channel.h.
 * Threads  as the change.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_CHANNEL_PARTS_H
#define TOLLGATE_STORE_CHANNEL_PARTS_H

#include "common/store/channel_change.h"

enum { TG_CHANNEL_WEIGHT_MOST = 1000000, TG_CHANNEL_LIST_MOST = 2000 };

enum tg_class tg_channel_check_url(const char *url, struct tg_error *err) must_check non_null(1);
enum tg_class tg_channel_check_models(const char *const *list, size_t count,
                                      struct tg_error *err) must_check;
enum tg_class tg_channel_check_groups(const char *const *list, size_t count,
                                      struct tg_error *err) must_check;
enum tg_class tg_channel_check_weight(int64_t weight, struct tg_error *err) must_check;
enum tg_class tg_channel_check_key(const char *key, struct tg_error *err) must_check non_null(1);

/* The product of the channel's models and groups, made by the database from the channel's row. */
void tg_channel_rewrite_abilities(struct tg_change *change, int64_t channel_id) non_null(1);
void tg_channel_key_fingerprint(const struct tg_channel_key_new *key,
                                uint8_t ret[TG_HMAC_BYTES]) non_null(1);
/* A row of channel_keys, sealed; its id, 0 after a failure. */
int64_t tg_channel_add_key(struct tg_change *change, const struct tg_channel_key_new *key,
                           int64_t position) non_null(1, 2);
/* "channel.change" and the like, of the channel with that id. */
void tg_channel_note(struct tg_change *change, int64_t channel_id,
                     const struct tg_audit_note *note) non_null(1, 3);

#endif
