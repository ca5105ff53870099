#include "fcgi-app/stream/dialect.h"

#include "fcgi-app/convert/gemini_event.h"
#include "fcgi-app/convert/messages_event.h"
#include "fcgi-app/convert/responses_event.h"
#include "fcgi-app/convert/splice.h"

#include <string.h>

/* --- Messages: every frame names its event, clients skip those that do not ------------------- */

static enum tg_chat_part named_part(const struct tg_sse_event *event,
                                       const struct tg_chat_event *read)
{
    if (event->data.len == 0 || read->idle)
        return TG_CHAT_PART_EMPTY;
    if (read->malformed)
        return TG_CHAT_PART_INVALID;
    if (read->has_error)
        return TG_CHAT_PART_ERROR;
    if (read->done)
        return TG_CHAT_PART_DONE;
    return read->content != 0 ? TG_CHAT_PART_CONTENT : TG_CHAT_PART_PREAMBLE;
}

static struct tg_span type_of(struct tg_span data)
{
    struct tg_json_place place;

    if (!tg_json_find(data.ptr, data.len, "type", &place) || place.type != TG_JSON_STRING ||
        place.len < 2)
        return (struct tg_span){"message", 7};
    return (struct tg_span){data.ptr + place.at + 1, place.len - 2};
}

static void put_frame(struct tg_span data, struct tg_buf *out)
{
    struct tg_span type = type_of(data);

    tg_buf_str(out, "event: ");
    tg_buf_add(out, type.ptr, type.len);
    tg_buf_char(out, '\n');
    tg_chat_put_data(data, out);
}

typedef void rename_fn(struct tg_span data, const char *to, struct tg_buf *out);

static void named_frame(struct tg_span data, rename_fn *rename, const char *rename_to,
                        struct tg_buf *out)
{
    struct tg_buf renamed;

    if (rename_to == NULL) {
        put_frame(data, out);
        return;
    }
    tg_buf_init(&renamed, 0);
    rename(data, rename_to, &renamed);
    put_frame((struct tg_span){tg_buf_text(&renamed), renamed.len}, out);
    tg_buf_done(&renamed);
}

static void messages_frame(const struct tg_sse_event *event, const char *rename_to,
                           struct tg_buf *out)
{
    named_frame(event->data, tg_messages_event_rename, rename_to, out);
}

static void responses_frame(const struct tg_sse_event *event, const char *rename_to,
                            struct tg_buf *out)
{
    named_frame(event->data, tg_responses_event_rename, rename_to, out);
}

static void named_frame_tree(const struct tg_json *event, struct tg_buf *out)
{
    struct tg_buf data;

    tg_buf_init(&data, 0);
    tg_json_print(event, &data);
    put_frame((struct tg_span){tg_buf_text(&data), data.len}, out);
    tg_buf_done(&data);
}

static void chat_frame_tree(const struct tg_json *event, struct tg_buf *out)
{
    tg_buf_str(out, "data: ");
    tg_json_print(event, out);
    tg_buf_str(out, "\n\n");
}

/* --- Gemini: nothing but data lines, or the elements of an array ---------------------------- */

static enum tg_chat_part gemini_part(const struct tg_sse_event *event,
                                     const struct tg_chat_event *read)
{
    if (event->data.len == 0)
        return TG_CHAT_PART_EMPTY;
    if (read->malformed)
        return TG_CHAT_PART_INVALID;
    if (read->has_error)
        return TG_CHAT_PART_ERROR;
    return read->content != 0 ? TG_CHAT_PART_CONTENT : TG_CHAT_PART_PREAMBLE;
}

static void put_renamed(struct tg_span data, const char *rename_to, struct tg_buf *out)
{
    if (rename_to == NULL)
        tg_buf_add(out, data.ptr, data.len);
    else
        tg_gemini_event_rename(data, rename_to, out);
}

static void gemini_frame(const struct tg_sse_event *event, const char *rename_to,
                         struct tg_buf *out)
{
    size_t at;

    tg_buf_str(out, "data: ");
    at = out->len;
    put_renamed(event->data, rename_to, out);
    /* Line ends of a JSON text are blanks between its values; clients read line by line. */
    for (; at < out->len; at++)
        if (out->data[at] == '\n')
            out->data[at] = ' ';
    tg_buf_str(out, "\n\n");
}

/* What begins with a comma is one more element (reply.c begins and ends the array). */
static void array_frame(const struct tg_sse_event *event, const char *rename_to,
                        struct tg_buf *out)
{
    tg_buf_char(out, ',');
    put_renamed(event->data, rename_to, out);
    tg_buf_char(out, '\n');
}

static void array_frame_tree(const struct tg_json *event, struct tg_buf *out)
{
    tg_buf_char(out, ',');
    tg_json_print(event, out);
    tg_buf_char(out, '\n');
}

static const struct tg_dialect gemini_array = {
    .protocol = TG_PROTOCOL_GEMINI,
    .figures = TG_FIGURES_GEMINI,
    .sums_up = true,
    .read_event = tg_gemini_event_read,
    .read_answer = tg_gemini_event_read,
    .part = gemini_part,
    .frame = array_frame,
    .rename_answer = tg_gemini_event_rename,
    .frame_tree = array_frame_tree,
    .last = {"", 0},
};

static const struct tg_dialect dialects[] = {
    {
        .protocol = TG_PROTOCOL_CHAT,
        .figures = TG_FIGURES_CHAT,
        .read_event = tg_chat_event_read,
        .read_answer = tg_chat_answer_read,
        .part = tg_chat_part,
        .frame = tg_chat_frame,
        .rename_answer = tg_chat_event_rename,
        .frame_tree = chat_frame_tree,
        .last = {"data: [DONE]\n\n", 14},
    },
    {
        .protocol = TG_PROTOCOL_RESPONSES,
        .figures = TG_FIGURES_RESPONSES,
        .read_event = tg_responses_event_read,
        .read_answer = tg_responses_answer_read,
        .part = named_part,
        .frame = responses_frame,
        .rename_answer = tg_chat_event_rename,
        .frame_tree = named_frame_tree,
        .last = {"", 0},
    },
    {
        .protocol = TG_PROTOCOL_MESSAGES,
        .figures = TG_FIGURES_MESSAGES,
        .sums_up = true,
        .read_event = tg_messages_event_read,
        .read_answer = tg_messages_answer_read,
        .part = named_part,
        .frame = messages_frame,
        .rename_answer = tg_messages_event_rename,
        .frame_tree = named_frame_tree,
        .last = {"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", 51},
    },
    {
        .protocol = TG_PROTOCOL_GEMINI,
        .figures = TG_FIGURES_GEMINI,
        .sums_up = true,
        .read_event = tg_gemini_event_read,
        .read_answer = tg_gemini_event_read,
        .part = gemini_part,
        .frame = gemini_frame,
        .rename_answer = tg_gemini_event_rename,
        .frame_tree = chat_frame_tree,
        .last = {"", 0},
    },
};

const struct tg_dialect *tg_dialect_of(enum tg_protocol protocol)
{
    for (size_t i = 0; i < TG_COUNT_OF(dialects); i++)
        if (dialects[i].protocol == protocol)
            return &dialects[i];
    return NULL;
}

const struct tg_dialect *tg_dialect_as(enum tg_protocol protocol, bool array)
{
    return protocol == TG_PROTOCOL_GEMINI && array ? &gemini_array : tg_dialect_of(protocol);
}
