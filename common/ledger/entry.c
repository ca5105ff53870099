#include "common/ledger/entry.h"

#include "common/base/money.h"
#include "common/json/scan.h"
#include "common/json/writer.h"

#include <string.h>

static const char *const kind_names[] = {
    [TG_ENTRY_CHARGE] = "charge", [TG_ENTRY_REFUND] = "refund", [TG_ENTRY_EXPIRED] = "expired",
    [TG_ENTRY_CREDIT] = "credit", [TG_ENTRY_ADJUST] = "adjust",
    [TG_ENTRY_RESET] = "reset",
};

const char *tg_entry_kind_name(enum tg_entry_kind kind)
{
    tg_assert((size_t)kind < TG_COUNT_OF(kind_names));
    return kind_names[kind];
}

bool tg_entry_kind_parse(const char *text, enum tg_entry_kind *ret)
{
    for (size_t i = 0; i < TG_COUNT_OF(kind_names); i++) {
        if (strcmp(text, kind_names[i]) == 0) {
            *ret = (enum tg_entry_kind)i;
            return true;
        }
    }
    return false;
}

static void replace_all(char *text, size_t len, char what)
{
    for (char *at = text; (at = memchr(at, what, len - (size_t)(at - text))) != NULL;)
        *at = ' ';
}

/* The record stands behind a tab, as it is: whoever only asks which entry this is need not read it.
 * A line break between its values would end the spool's line. */
static void put_record(struct tg_buf *out, struct tg_span record)
{
    size_t start;

    tg_buf_char(out, '\t');
    start = out->len;
    tg_buf_add(out, record.ptr, record.len);
    if (out->failed)
        return;
    replace_all(out->data + start, out->len - start, '\n');
    replace_all(out->data + start, out->len - start, '\r');
}

void tg_entry_encode(const struct tg_entry *entry, struct tg_buf *out)
{
    struct tg_json_writer json;
    char id[TG_ID_TEXT];

    tg_id_format(&entry->id, id);
    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "id", id);
    tg_json_put_str(&json, "kind", tg_entry_kind_name(entry->kind));
    tg_json_put_int(&json, "user_id", entry->user_id);
    tg_json_put_int(&json, "token_id", entry->token_id);
    tg_json_put_int(&json, "channel_id", entry->channel_id);
    tg_json_put_int(&json, "plan_id", entry->funding.plan_id);
    tg_json_put_int(&json, "amount_quota", entry->amount_quota);
    if (entry->funding.plan_id != 0)
        tg_json_put_int(&json, "plan_period", entry->funding.period);
    if (entry->kind == TG_ENTRY_RESET)
        tg_json_put_int(&json, "grant_quota", entry->grant_quota);
    if (entry->kind == TG_ENTRY_ADJUST) {
        tg_json_put_int(&json, "token_delta_quota", entry->token_delta_quota);
        tg_json_put_int(&json, "token_unlimited", entry->token_unlimited);
        tg_json_put_int(&json, "authver", entry->authver);
    }
    tg_json_end_object(&json);
    if (entry->record.len > 0)
        put_record(out, entry->record);
}

/* Each reads one member; a sticky failure names the first that is wrong. */
struct reading {
    const char *text; /* of the object, as it passed the gate */
    size_t len;
    const char *bad;
};

static int64_t read_int(struct reading *in, const char *key, int64_t least, int64_t most)
{
    struct tg_json_place place;
    int64_t value = 0;
    bool good = tg_json_find(in->text, in->len, key, &place) &&
                tg_json_place_int(in->text, &place, &value);

    if (in->bad == NULL && (!good || value < least || value > most))
        in->bad = key;
    return value;
}

static bool read_text(struct reading *in, const char *key, char *out, size_t room)
{
    struct tg_json_place place;

    if (tg_json_find(in->text, in->len, key, &place) &&
        tg_json_place_string(in->text, &place, out, room))
        return true;
    in->bad = key;
    return false;
}

static void read_names(struct reading *in, struct tg_entry *entry)
{
    char text[TG_ID_TEXT];

    if (!read_text(in, "id", text, sizeof text))
        return;
    if (!tg_id_parse(text, &entry->id))
        in->bad = "id";
    else if (read_text(in, "kind", text, sizeof text) && !tg_entry_kind_parse(text, &entry->kind))
        in->bad = "kind";
}

static void read_numbers(struct reading *in, struct tg_entry *entry)
{
    entry->user_id = read_int(in, "user_id", 0, INT64_MAX);
    entry->token_id = read_int(in, "token_id", 0, INT64_MAX);
    entry->channel_id = read_int(in, "channel_id", 0, INT64_MAX);
    entry->funding.plan_id = read_int(in, "plan_id", 0, INT64_MAX);
    entry->amount_quota = read_int(in, "amount_quota", -TG_QUOTA_MAX, TG_QUOTA_MAX);
    entry->token_unlimited = -1;
    if (entry->funding.plan_id != 0)
        entry->funding.period = read_int(in, "plan_period", 0, INT64_MAX);
    if (entry->kind == TG_ENTRY_RESET)
        entry->grant_quota = read_int(in, "grant_quota", 0, TG_QUOTA_MAX);
    if (entry->kind != TG_ENTRY_ADJUST)
        return;
    entry->token_delta_quota = read_int(in, "token_delta_quota", -TG_QUOTA_MAX, TG_QUOTA_MAX);
    entry->token_unlimited = (int)read_int(in, "token_unlimited", -1, 1);
    entry->authver = read_int(in, "authver", 0, INT64_MAX);
}

enum tg_class tg_entry_decode(const char *text, size_t len, struct tg_arena *arena,
                              struct tg_entry *ret, struct tg_error *err)
{
    const char *tab = memchr(text, '\t', len); /* inside the object a tab would be escaped */
    size_t head_len = tab != NULL ? (size_t)(tab - text) : len;
    struct tg_entry entry = {0};
    struct reading in = {.text = text, .len = head_len};
    enum tg_class class = tg_json_check(text, head_len, err);

    if (class != TG_OK)
        return class;
    read_names(&in, &entry);
    read_numbers(&in, &entry);
    if (in.bad != NULL)
        return tg_fail(err, TG_CLASS_INVALID, "ledger_entry", "bad or no '%s' in a ledger entry",
                       in.bad);
    if (tab != NULL) {
        entry.record.len = len - head_len - 1;
        entry.record.ptr = tg_arena_strndup(arena, tab + 1, entry.record.len);
    }
    *ret = entry;
    return TG_OK;
}
