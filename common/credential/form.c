#include "common/credential/form.h"

#include "common/crypto/crypto.h"
#include "common/json/json.h"
#include "common/json/writer.h"

#include <string.h>

enum { ADDRESS_BYTES = 16, CIDR_HEX = (ADDRESS_BYTES + 1) * 2 };

/* ---- one array: the plain members in the order of this table, then the three lists. Names would
 * be read once a request, for nothing. ---- */

enum kind { TEXT, NUMBER, FLAG, STATUS };

static const struct member {
    enum kind kind;
    size_t offset;
} members[] = {
    {NUMBER, offsetof(struct tg_credential, token_id)},
    {NUMBER, offsetof(struct tg_credential, user_id)},
    {TEXT, offsetof(struct tg_credential, token_name)},
    {TEXT, offsetof(struct tg_credential, team)},
    {STATUS, offsetof(struct tg_credential, token_status)},
    {STATUS, offsetof(struct tg_credential, user_status)},
    {FLAG, offsetof(struct tg_credential, user_is_admin)},
    {NUMBER, offsetof(struct tg_credential, expires_unix_us)},
    {TEXT, offsetof(struct tg_credential, user_group)},
    {TEXT, offsetof(struct tg_credential, group_name)},
    {FLAG, offsetof(struct tg_credential, unlimited)},
    {FLAG, offsetof(struct tg_credential, accepts_unpriced)},
    {NUMBER, offsetof(struct tg_credential, authver)},
    {FLAG, offsetof(struct tg_credential, models_limited)},
    {FLAG, offsetof(struct tg_credential, cross_group_retry)},
    {TEXT, offsetof(struct tg_credential, loss_policy)},
    {TEXT, offsetof(struct tg_credential, stream_mode)},
    {TEXT, offsetof(struct tg_credential, funding)},
};

static void write_member(struct tg_json_writer *out, const struct tg_credential *credential,
                         const struct member *member)
{
    const void *at = (const char *)credential + member->offset;

    switch (member->kind) {
    case TEXT:
        tg_json_write_str(out, *(const char *const *)at);
        break;
    case NUMBER:
        tg_json_write_int(out, *(const int64_t *)at);
        break;
    case FLAG:
        tg_json_write_bool(out, *(const bool *)at);
        break;
    case STATUS:
        tg_json_write_int(out, *(const enum tg_status *)at);
        break;
    }
}

static bool read_number(const struct tg_json *value, int64_t least, int64_t most, int64_t *ret)
{
    return tg_json_int(value, ret) && *ret >= least && *ret <= most;
}

static bool read_member(const struct tg_json *value, struct tg_arena *arena,
                        struct tg_credential *credential, const struct member *member)
{
    void *at = (char *)credential + member->offset;
    struct tg_span text;
    int64_t number;

    switch (member->kind) {
    case TEXT:
        if (!tg_json_string(value, &text))
            return false;
        *(const char **)at = tg_arena_strndup(arena, text.ptr, text.len);
        return true;
    case NUMBER:
        return tg_json_int(value, at);
    case FLAG:
        *(bool *)at = tg_json_type(value) == TG_JSON_TRUE;
        return *(bool *)at || tg_json_type(value) == TG_JSON_FALSE;
    case STATUS:
        if (!read_number(value, 0, TG_STATUS_DELETED, &number))
            return false;
        *(enum tg_status *)at = (enum tg_status)number;
        return true;
    }
    return false;
}

/* ---- the lists ---- */

static void write_texts(struct tg_json_writer *out, const char *const *list, size_t count)
{
    tg_json_begin_array(out);
    for (size_t i = 0; i < count; i++)
        tg_json_write_str(out, list[i]);
    tg_json_end_array(out);
}

static void write_lists(struct tg_json_writer *out, const struct tg_credential *credential)
{
    char hex[CIDR_HEX + 1];

    write_texts(out, credential->models, credential->model_count);
    write_texts(out, credential->auto_groups, credential->auto_group_count);
    tg_json_begin_array(out); /* 16 bytes and the prefix length, in hex */
    for (size_t i = 0; i < credential->address_count; i++) {
        tg_hex(credential->addresses[i].base.bytes, ADDRESS_BYTES, hex);
        tg_hex(&credential->addresses[i].prefix_len, 1, hex + (size_t)ADDRESS_BYTES * 2);
        tg_json_write_str(out, hex);
    }
    tg_json_end_array(out);
}

static bool read_texts(const struct tg_json *array, struct tg_arena *arena,
                       const char *const **ret, size_t *ret_count)
{
    const char **list;

    if (tg_json_type(array) != TG_JSON_ARRAY)
        return false;
    *ret_count = tg_json_array_len(array);
    list = tg_arena_calloc(arena, *ret_count, sizeof *list);
    for (size_t i = 0; i < *ret_count; i++) {
        struct tg_span name;

        if (!tg_json_string(tg_json_array_at(array, i), &name))
            return false;
        list[i] = tg_arena_strndup(arena, name.ptr, name.len);
    }
    *ret = list;
    return true;
}

static bool read_addresses(const struct tg_json *array, struct tg_arena *arena,
                           struct tg_credential *credential)
{
    struct tg_cidr *list;

    if (tg_json_type(array) != TG_JSON_ARRAY)
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
    tg_json_begin_array(&json);
    for (size_t i = 0; i < TG_COUNT_OF(members); i++)
        write_member(&json, credential, &members[i]);
    write_lists(&json, credential);
    tg_json_end_array(&json);
}

enum tg_class tg_credential_read(const char *text, size_t len, struct tg_arena *arena,
                                 struct tg_credential **ret, struct tg_error *err)
{
    struct tg_credential *credential;
    struct tg_json *json;
    enum tg_class class;
    const size_t models_at = TG_COUNT_OF(members), groups_at = models_at + 1;
    const size_t addresses_at = groups_at + 1;
    bool good;

    if (len == 4 && memcmp(text, "null", 4) == 0) {
        *ret = NULL;
        return TG_OK;
    }
    class = tg_json_parse(text, len, &json, err);
    if (class != TG_OK)
        return class;
    credential = tg_arena_calloc(arena, 1, sizeof *credential);
    good = tg_json_array_len(json) == addresses_at + 1;
    for (size_t i = 0; i < models_at && good; i++)
        good = read_member(tg_json_array_at(json, i), arena, credential, &members[i]);
    good = good &&
           read_texts(tg_json_array_at(json, models_at), arena, &credential->models,
                      &credential->model_count) &&
           read_texts(tg_json_array_at(json, groups_at), arena, &credential->auto_groups,
                      &credential->auto_group_count) &&
           read_addresses(tg_json_array_at(json, addresses_at), arena, credential);
    tg_json_free(json);
    if (!good)
        return tg_fail(err, TG_CLASS_INVALID, "credential_form",
                       "a cached credential of another form");
    *ret = credential;
    return TG_OK;
}
