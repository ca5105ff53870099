#include "common/fcgi/records.h"

#include <string.h>

enum {
    HEADER_LEN = 8,
    VERSION = 1,
    BEGIN_LEN = 8,
    RESPONDER = 1,
    KEEP_CONN = 1,
    CANT_MPX = 1,
    UNKNOWN_ROLE = 3,
    PARAMS_SEEN_MOST = 4 * 1024 * 1024, /* what is over the limits is read on this far */
    STRAYS_MOST = 64
};

/* --- records for the peer ------------------------------------------------------------------ */

void tg_fcgi_record_head(struct tg_buf *out, int type, int id, size_t len)
{
    const unsigned char head[HEADER_LEN] = {VERSION,
                                            (unsigned char)type,
                                            (unsigned char)(id >> 8),
                                            (unsigned char)id,
                                            (unsigned char)(len >> 8),
                                            (unsigned char)len};

    tg_assert(len <= 65535);
    tg_buf_add(out, head, sizeof head);
}

void tg_fcgi_record_end(struct tg_buf *out, int id, int status)
{
    const unsigned char body[8] = {0, 0, 0, 0, (unsigned char)status};

    tg_fcgi_record_head(out, TG_FCGI_TYPE_END, id, sizeof body);
    tg_buf_add(out, body, sizeof body);
}

/* Of the three values that may be asked for, only this one says something about us. */
static void answer_values(struct tg_fcgi_records *records)
{
    static const char name[] = "FCGI_MPXS_CONNS";
    bool asked = memmem(records->small, records->small_len, name, sizeof name - 1) != NULL;

    tg_fcgi_record_head(&records->reply, TG_FCGI_TYPE_GET_VALUES_RESULT, 0,
                        asked ? sizeof name + 2 : 0);
    if (asked)
        tg_buf_add(&records->reply, "\x0f\x01" "FCGI_MPXS_CONNS" "0", sizeof name + 2);
}

static void answer_management(struct tg_fcgi_records *records)
{
    const unsigned char body[8] = {records->header[1]};

    if (records->header[1] == TG_FCGI_TYPE_GET_VALUES) {
        answer_values(records);
        return;
    }
    tg_fcgi_record_head(&records->reply, TG_FCGI_TYPE_UNKNOWN, 0, sizeof body);
    tg_buf_add(&records->reply, body, sizeof body);
}

/* --- life ---------------------------------------------------------------------------------- */

void tg_fcgi_records_init(struct tg_fcgi_records *records)
{
    memset(records, 0, sizeof *records);
    tg_buf_init(&records->params, 0);
    tg_buf_init(&records->reply, 0);
}

void tg_fcgi_records_done(struct tg_fcgi_records *records)
{
    tg_buf_done(&records->params);
    tg_buf_done(&records->reply);
}

void tg_fcgi_records_next(struct tg_fcgi_records *records)
{
    records->id = 0;
    records->keep = false;
    records->flaw = TG_FCGI_SOUND;
    records->phase = TG_FCGI_IDLE;
    records->lengths_len = records->params_seen = records->params_count = 0;
    records->in_pair = false;
    records->strays = 0;
    tg_buf_reset(&records->params);
}

static enum tg_fcgi_event refuse(struct tg_fcgi_records *records)
{
    records->refused = true;
    return TG_FCGI_REFUSED;
}

static enum tg_fcgi_event stray(struct tg_fcgi_records *records)
{
    return ++records->strays > STRAYS_MOST ? refuse(records) : TG_FCGI_MORE;
}

/* --- name-value pairs ---------------------------------------------------------------------- */

static void drop_pair(struct tg_fcgi_records *records, enum tg_fcgi_flaw flaw)
{
    records->flaw = flaw;
    records->dropped = true;
    records->params.len = records->pair_start;
}

static size_t length_size(const unsigned char *at)
{
    return (*at & 0x80) != 0 ? 4 : 1;
}

static size_t length_value(const unsigned char *at)
{
    if ((*at & 0x80) == 0)
        return *at;
    return (size_t)(at[0] & 0x7f) << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static bool lengths_are_whole(const struct tg_fcgi_records *records)
{
    size_t name_size = records->lengths_len > 0 ? length_size(records->lengths) : 1;

    return records->lengths_len > name_size &&
           records->lengths_len >= name_size + length_size(records->lengths + name_size);
}

static void begin_pair(struct tg_fcgi_records *records)
{
    const unsigned char *value = records->lengths + length_size(records->lengths);

    records->in_pair = true;
    records->dropped = false;
    records->pair_at = 0;
    records->pair_start = records->params.len;
    records->name_len = length_value(records->lengths);
    records->value_len = length_value(value);
    if (records->name_len == 0)
        drop_pair(records, TG_FCGI_MALFORMED);
    else if (records->name_len > TG_FCGI_NAME_BYTES || records->value_len > TG_FCGI_VALUE_BYTES ||
             ++records->params_count > TG_FCGI_PARAMS_COUNT ||
             records->params.len + records->lengths_len + records->name_len +
                     records->value_len > TG_FCGI_PARAMS_BYTES)
        drop_pair(records, TG_FCGI_TOO_LARGE);
    else
        tg_buf_add(&records->params, records->lengths, records->lengths_len);
}

/* A NUL would end the text early for whoever reads it, a "=" in a name move its end. */
static bool is_clean(const struct tg_fcgi_records *records, const unsigned char *bytes, size_t len)
{
    size_t name_left = records->name_len - TG_MIN(records->name_len, records->pair_at);

    return memchr(bytes, '\0', len) == NULL &&
           memchr(bytes, '=', TG_MIN(len, name_left)) == NULL;
}

static size_t take_pair(struct tg_fcgi_records *records, const unsigned char *bytes, size_t len)
{
    size_t whole = records->name_len + records->value_len;

    len = TG_MIN(len, whole - records->pair_at);
    if (!records->dropped && !is_clean(records, bytes, len))
        drop_pair(records, TG_FCGI_MALFORMED);
    if (!records->dropped)
        tg_buf_add(&records->params, bytes, len);
    records->pair_at += len;
    if (records->pair_at == whole) {
        records->in_pair = false;
        records->lengths_len = 0;
    }
    return len;
}

static enum tg_fcgi_event take_params(struct tg_fcgi_records *records, const unsigned char *bytes,
                                      size_t len)
{
    records->params_seen += len;
    if (records->params_seen > PARAMS_SEEN_MOST)
        return refuse(records);
    while (len > 0 || (records->in_pair && records->name_len + records->value_len == 0)) {
        size_t part = 1;

        if (records->in_pair) {
            part = take_pair(records, bytes, len);
        } else {
            records->lengths[records->lengths_len++] = *bytes;
            if (lengths_are_whole(records))
                begin_pair(records);
        }
        bytes += part;
        len -= part;
    }
    return TG_FCGI_MORE;
}

static enum tg_fcgi_event end_params(struct tg_fcgi_records *records)
{
    if ((records->in_pair || records->lengths_len > 0) && records->flaw != TG_FCGI_TOO_LARGE)
        return refuse(records);
    records->phase = TG_FCGI_IN_BODY;
    return TG_FCGI_PARAMS;
}

/* --- records ------------------------------------------------------------------------------- */

static int id_of(const struct tg_fcgi_records *records)
{
    return records->header[2] << 8 | records->header[3];
}

static enum tg_fcgi_event head_of_begin(struct tg_fcgi_records *records)
{
    int id = id_of(records);

    records->begins = records->phase == TG_FCGI_IDLE;
    if (records->begins)
        return id == 0 || records->content_left != BEGIN_LEN ? refuse(records) : TG_FCGI_MORE;
    if (id == records->id)
        return refuse(records);
    tg_fcgi_record_end(&records->reply, id, CANT_MPX);
    return stray(records);
}

/* A record of the running request, which is no BEGIN. */
static enum tg_fcgi_event head_of_own(struct tg_fcgi_records *records)
{
    int type = records->header[1];

    if (records->phase == TG_FCGI_ANSWERING && type != TG_FCGI_TYPE_ABORT)
        return stray(records);
    switch (type) {
    case TG_FCGI_TYPE_ABORT:
        records->phase = TG_FCGI_ANSWERING;
        return TG_FCGI_ABORTED;
    case TG_FCGI_TYPE_PARAMS:
        if (records->phase != TG_FCGI_IN_PARAMS)
            return refuse(records);
        return records->content_left == 0 ? end_params(records) : TG_FCGI_MORE;
    case TG_FCGI_TYPE_STDIN:
        if (records->phase != TG_FCGI_IN_BODY)
            return refuse(records);
        if (records->content_left > 0)
            return TG_FCGI_MORE;
        records->phase = TG_FCGI_ANSWERING;
        return TG_FCGI_END;
    default:
        return stray(records);
    }
}

static bool is_own(const struct tg_fcgi_records *records)
{
    return records->phase != TG_FCGI_IDLE && id_of(records) == records->id;
}

static enum tg_fcgi_event begin_record(struct tg_fcgi_records *records)
{
    if (records->header[0] != VERSION)
        return refuse(records);
    records->in_record = true;
    records->header_len = records->small_len = 0;
    records->content_left = (size_t)records->header[4] << 8 | records->header[5];
    records->padding_left = records->header[6];
    if (records->header[1] == TG_FCGI_TYPE_BEGIN)
        return head_of_begin(records);
    return is_own(records) ? head_of_own(records) : stray(records);
}

static bool is_stream(const struct tg_fcgi_records *records, int type, enum tg_fcgi_phase phase)
{
    return records->header[1] == type && records->phase == phase && is_own(records);
}

/* <len> bytes of the record's content. */
static enum tg_fcgi_event take_content(struct tg_fcgi_records *records, const unsigned char *bytes,
                                       size_t len, struct tg_span *piece)
{
    size_t room = sizeof records->small - records->small_len;

    records->content_left -= len;
    if (is_stream(records, TG_FCGI_TYPE_PARAMS, TG_FCGI_IN_PARAMS))
        return take_params(records, bytes, len);
    if (is_stream(records, TG_FCGI_TYPE_STDIN, TG_FCGI_IN_BODY)) {
        *piece = (struct tg_span){(const char *)bytes, len};
        return TG_FCGI_BODY;
    }
    memcpy(records->small + records->small_len, bytes, TG_MIN(len, room));
    records->small_len += TG_MIN(len, room);
    return TG_FCGI_MORE;
}

static enum tg_fcgi_event begin_request(struct tg_fcgi_records *records)
{
    int role = records->small[0] << 8 | records->small[1];

    if (role != RESPONDER) {
        tg_fcgi_record_end(&records->reply, id_of(records), UNKNOWN_ROLE);
        return refuse(records);
    }
    records->id = id_of(records);
    records->keep = (records->small[2] & KEEP_CONN) != 0;
    records->phase = TG_FCGI_IN_PARAMS;
    return TG_FCGI_MORE;
}

static enum tg_fcgi_event end_record(struct tg_fcgi_records *records)
{
    records->in_record = false;
    if (records->header[1] == TG_FCGI_TYPE_BEGIN)
        return records->begins ? begin_request(records) : TG_FCGI_MORE;
    if (id_of(records) == 0)
        answer_management(records);
    return TG_FCGI_MORE;
}

/* One step: a header, a run of content, or padding. *len is what it consumed. */
static enum tg_fcgi_event step(struct tg_fcgi_records *records, const unsigned char *bytes,
                               size_t *len, struct tg_span *piece)
{
    if (!records->in_record) {
        *len = TG_MIN(*len, HEADER_LEN - records->header_len);
        memcpy(records->header + records->header_len, bytes, *len);
        records->header_len += *len;
        return records->header_len < HEADER_LEN ? TG_FCGI_MORE : begin_record(records);
    }
    if (records->content_left > 0) {
        *len = TG_MIN(*len, records->content_left);
        return take_content(records, bytes, *len, piece);
    }
    *len = TG_MIN(*len, records->padding_left);
    records->padding_left -= *len;
    return TG_FCGI_MORE;
}

enum tg_fcgi_event tg_fcgi_records_feed(struct tg_fcgi_records *records, const void *bytes,
                                        size_t len, size_t *used, struct tg_span *piece)
{
    enum tg_fcgi_event event = records->refused ? TG_FCGI_REFUSED : TG_FCGI_MORE;

    for (*used = 0; event == TG_FCGI_MORE && *used < len;) {
        size_t part = len - *used;

        event = step(records, (const unsigned char *)bytes + *used, &part, piece);
        *used += part;
        /* What a record was is only said once; its padding may be still to come. */
        if (event == TG_FCGI_MORE && records->in_record && records->content_left == 0 &&
            records->padding_left == 0)
            event = end_record(records);
    }
    return event;
}
