#include "common/credential/form.h"

#include "common/crypto/crypto.h"
#include "common/json/json.h"
#include "common/json/writer.h"

#include <string.h>

enum { ADDRESS_BYTES = 16, CIDR_HEX = (ADDRESS_BYTES + 1) * 2 };

/* ---- one table of the plain members, read and written in its order ---- */

enum kind { TEXT, NUMBER, FLAG, STATUS };

static const struct member {
    const char *key;
    enum kind kind;
    size_t offset;
} members[] = {
    {"token_id", NUMBER, offsetof(struct tg_credential, token_id)},
    {"user_id", NUMBER, offsetof(struct tg_credential, user_id)},
    {"token_name", TEXT, offsetof(struct tg_credential, token_name)},
    {"team", TEXT, offsetof(struct tg_credential, team)},
    {"token_status", STATUS, offsetof(struct tg_credential, token_status)},
    {"user_status", STATUS, offsetof(struct tg_credential, user_status)},
    {"user_is_admin", FLAG, offsetof(struct tg_credential, user_is_admin)},
    {"expires_unix_us", NUMBER, offsetof(struct tg_credential, expires_unix_us)},
    {"user_group", TEXT, offsetof(struct tg_credential, user_group)},
    {"group_name", TEXT, offsetof(struct tg_credential, group_name)},
    {"unlimited", FLAG, offsetof(struct tg_credential, unlimited)},
    {"authver", NUMBER, offsetof(struct tg_credential, authver)},
    {"models_limited", FLAG, offsetof(struct tg_credential, models_limited)},
    {"loss_policy", TEXT, offsetof(struct tg_credential, loss_policy)},
    {"stream_mode", TEXT, offsetof(struct tg_credential, stream_mode)},
};

static void write_member(struct tg_json_writer *out, const struct tg_credential *credential,
                         const struct member *member)
{
    const void *at = (const char *)credential + member->offset;

    switch (member->kind) {
    case TEXT:
        tg_json_put_str(out, member->key, *(const char *const *)at);
        break;
    case NUMBER:
        tg_json_put_int(out, member->key, *(const int64_t *)at);
        break;
    case FLAG:
        tg_json_put_bool(out, member->key, *(const bool *)at);
        break;
    case STATUS:
        tg_json_put_int(out, member->key, *(const enum tg_status *)at);
        break;
    }
}

static bool read_member(const struct tg_json *json, struct tg_arena *arena,
                        struct tg_credential *credential, const struct member *member)
{
    void *at = (char *)credential + member->offset;
    struct tg_span text;
    int64_t number;

    switch (member->kind) {
    case TEXT:
        if (tg_json_get_string(json, member->key, &text) != TG_JSON_GOT)
            return false;
        *(const char **)at = tg_arena_strndup(arena, text.ptr, text.len);
        return true;
    case NUMBER:
        return tg_json_get_int(json, member->key, at) == TG_JSON_GOT;
    case FLAG:
        return tg_json_get_bool(json, member->key, at) == TG_JSON_GOT;
    case STATUS:
        if (tg_json_get_int(json, member->key, &number) != TG_JSON_GOT || number < 0 ||
            number > TG_STATUS_DELETED)
            return false;
        *(enum tg_status *)at = (enum tg_status)number;
        return true;
    }
    return false;
}

/* ---- the lists ---- */

static void write_lists(struct tg_json_writer *out, const struct tg_credential *credential)
{
    char hex[CIDR_HEX + 1];

    tg_json_key(out, "models");
    tg_json_begin_array(out);
    for (size_t i = 0; i < credential->model_count; i++)
        tg_json_write_str(out, credential->models[i]);
    tg_json_end_array(out);
    tg_json_key(out, "addresses"); /* 16 bytes and the prefix length, in hex */
    tg_json_begin_array(out);
    for (size_t i = 0; i < credential->address_count; i++) {
        tg_hex(credential->addresses[i].base.bytes, ADDRESS_BYTES, hex);
        tg_hex(&credential->addresses[i].prefix_len, 1, hex + (size_t)ADDRESS_BYTES * 2);
        tg_json_write_str(out, hex);
    }
    tg_json_end_array(out);
}

static bool read_models(const struct tg_json *json, struct tg_arena *arena,
                        struct tg_credential *credential)
{
    const struct tg_json *array;
    const char **models;

    if (tg_json_get_array(json, "models", &array) != TG_JSON_GOT)
        return false;
    credential->model_count = tg_json_array_len(array);
    models = tg_arena_calloc(arena, credential->model_count, sizeof *models);
    for (size_t i = 0; i < credential->model_count; i++) {
        struct tg_span name;

        if (!tg_json_string(tg_json_array_at(array, i), &name))
            return false;
        models[i] = tg_arena_strndup(arena, name.ptr, name.len);
    }
    credential->models = models;
    return true;
}

static bool read_addresses(const struct tg_json *json, struct tg_arena *arena,
                           struct tg_credential *credential)
{
    const struct tg_json *array;
    struct tg_cidr *list;

    if (tg_json_get_array(json, "addresses", &array) != TG_JSON_GOT)
        return false;
    credential->address_count = tg_json_array_len(array);
    list = tg_arena_calloc(arena, credential->address_count, sizeof *list);
    for (size_t i = 0; i < credential->address_count; i++) {
        struct tg_span hex;
        uint8_t bytes[ADDRESS_BYTES + 1];

        if (!tg_json_string(tg_json_array_at(array, i), &hex) || hex.len != CIDR_HEX ||
            !tg_unhex(hex.ptr, sizeof bytes, bytes) || bytes[ADDRESS_BYTES] > 128)
            return false;
        memcpy(list[i].base.bytes, bytes, ADDRESS_BYTES);
        list[i].prefix_len = bytes[ADDRESS_BYTES];
    }
    credential->addresses = list;
    return true;
}

void tg_credential_write(const struct tg_credential *credential, struct tg_buf *out)
{
    struct tg_json_writer json;

    if (credential == NULL) {
        tg_buf_str(out, "null");
        return;
    }
    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    for (size_t i = 0; i < TG_COUNT_OF(members); i++)
        write_member(&json, credential, &members[i]);
    write_lists(&json, credential);
    tg_json_end_object(&json);
}

enum tg_class tg_credential_read(const char *text, size_t len, struct tg_arena *arena,
                                 struct tg_credential **ret, struct tg_error *err)
{
    struct tg_credential *credential;
    struct tg_json *json;
    enum tg_class class;
    bool good = true;

    if (len == 4 && memcmp(text, "null", 4) == 0) {
        *ret = NULL;
        return TG_OK;
    }
    class = tg_json_parse(text, len, &json, err);
    if (class != TG_OK)
        return class;
    credential = tg_arena_calloc(arena, 1, sizeof *credential);
    for (size_t i = 0; i < TG_COUNT_OF(members) && good; i++)
        good = read_member(json, arena, credential, &members[i]);
    good = good && read_models(json, arena, credential) && read_addresses(json, arena, credential);
    tg_json_free(json);
    if (!good)
        return tg_fail(err, TG_CLASS_INVALID, "credential_form",
                       "a cached credential of another form");
    *ret = credential;
    return TG_OK;
}
