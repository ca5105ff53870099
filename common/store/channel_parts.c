#include "common/store/channel_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/http/url.h"
#include "common/store/check.h"
#include "common/store/routing.h"

enum { KEY_LIMIT = 8000, HINT_BYTES = 4, LONG_KEY = 16 };

enum tg_class tg_channel_check_url(const char *url, struct tg_error *err)
{
    return tg_url_check(url, err);
}

static enum tg_class check_count(size_t count, struct tg_error *err)
{
    if (count == 0 || count > TG_CHANNEL_LIST_MOST)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_list",
                       "a channel has 1 to %d models and groups", TG_CHANNEL_LIST_MOST);
    return TG_OK;
}

enum tg_class tg_channel_check_models(const char *const *list, size_t count, struct tg_error *err)
{
    enum tg_class class = check_count(count, err);

    for (size_t i = 0; i < count && class == TG_OK; i++)
        class = tg_check_model(list[i], err);
    return class;
}

enum tg_class tg_channel_check_groups(const char *const *list, size_t count, struct tg_error *err)
{
    enum tg_class class = check_count(count, err);

    for (size_t i = 0; i < count && class == TG_OK; i++)
        class = tg_check_group(list[i], err);
    return class;
}

enum tg_class tg_channel_check_weight(int64_t weight, struct tg_error *err)
{
    if (weight < 0 || weight > TG_CHANNEL_WEIGHT_MOST)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_weight", "a weight is 0 to %d",
                       TG_CHANNEL_WEIGHT_MOST);
    return TG_OK;
}

enum tg_class tg_channel_check_key(const char *key, struct tg_error *err)
{
    size_t len = strlen(key);
    bool clean = true;

    for (size_t i = 0; i < len; i++) /* it becomes part of a header */
        clean = clean && (unsigned char)key[i] >= ' ' && key[i] != 0x7f;
    if (len == 0 || len > KEY_LIMIT || !clean)
        return tg_fail(err, TG_CLASS_INVALID, "invalid_key",
                       "a key is one line of at most %d bytes, without control characters",
                       KEY_LIMIT);
    return TG_OK;
}

/* A name out of JSON_TABLE, whose own collation may hold "GPT" and "gpt" for the same. */
#define EXACT(name) "CONVERT(" name " USING utf8mb4) COLLATE utf8mb4_bin"

void tg_channel_rewrite_abilities(struct tg_change *change, int64_t channel_id)
{
    tg_change_run(change, "DELETE FROM abilities WHERE channel_id = ?", &TG_DB_I(channel_id), 1);
    tg_change_run(change,
                  "INSERT INTO abilities (group_name, model, channel_id, enabled, priority, "
                  "weight) SELECT DISTINCT " EXACT("g.name") ", " EXACT("m.name") ", c.id, "
                  "c.status = 'enabled', c.priority, c.weight FROM channels c, "
                  "JSON_TABLE(c.models, '$[*]' COLUMNS (name VARCHAR(191) PATH '$')) m, "
                  "JSON_TABLE(c.groups_list, '$[*]' COLUMNS (name VARCHAR(64) PATH '$')) g "
                  "WHERE c.id = ?",
                  &TG_DB_I(channel_id), 1);
    tg_change_routing(change);
}

void tg_channel_key_fingerprint(const struct tg_channel_key_new *key, uint8_t ret[TG_HMAC_BYTES])
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "channel key:%s", key->key);
    tg_hmac(key->seal.pepper, text.data, text.len, ret);
    tg_wipe(text.data, text.len);
    tg_buf_done(&text);
}

int64_t tg_channel_add_key(struct tg_change *change, const struct tg_channel_key_new *key,
                           int64_t position)
{
    char aad[TG_KEY_AAD_TEXT], hint[HINT_BYTES + 1] = "";
    size_t len = strlen(key->key);
    uint8_t fingerprint[TG_HMAC_BYTES];
    struct tg_buf sealed;
    int64_t key_id;

    if (len >= LONG_KEY) /* four characters of a short key are too much of it */
        snprintf(hint, sizeof hint, "%s", key->key + len - HINT_BYTES);
    tg_channel_key_fingerprint(key, fingerprint);
    const struct tg_db_value values[] = {TG_DB_I(key->channel_id), TG_DB_I(position),
                                         TG_DB_I(key->seal.version), TG_DB_S(hint),
                                         TG_DB_B(fingerprint, sizeof fingerprint)};

    tg_change_run(change,
                  "INSERT INTO channel_keys (channel_id, position, sealed, key_version, hint, "
                  "fingerprint) VALUES (?, ?, '', ?, ?, ?)",
                  values, TG_COUNT_OF(values));
    if (change->class != TG_OK)
        return 0;
    key_id = change->done.last_id;
    tg_channel_key_aad(key_id, aad);
    tg_buf_init(&sealed, 0);
    tg_seal(key->seal.public_key, aad, key->key, &sealed);
    tg_change_run(change, "UPDATE channel_keys SET sealed = ? WHERE id = ?",
                  (struct tg_db_value[]){TG_DB_B(sealed.data, sealed.len), TG_DB_I(key_id)}, 2);
    tg_buf_done(&sealed);
    return key_id;
}

void tg_channel_note(struct tg_change *change, int64_t channel_id, const struct tg_audit_note *note)
{
    char id[24];
    struct tg_audit_note full = *note;

    snprintf(id, sizeof id, "%" PRId64, channel_id);
    full.object_type = "channel";
    full.object_id = id;
    tg_change_audit(change, &full);
}
