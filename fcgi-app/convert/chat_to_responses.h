/* chat_to_responses - the state of a Chat stream on its way to events of Responses (PROTOCOLS D6).
 *
 * Every item is kept until the end: the last event holds the whole output. One message or
 * reasoning item is open at a time, calls may be open beside each other. For the files
 * chat_to_responses_*.c alone.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_CHAT_TO_RESPONSES_H
#define TOLLGATE_CONVERT_CHAT_TO_RESPONSES_H

#include "fcgi-app/convert/balance.h"
#include "fcgi-app/convert/responses.h"

enum tg_item_kind {
    TG_ITEM_TEXT,
    TG_ITEM_REFUSAL,
    TG_ITEM_REASONING,
    TG_ITEM_CALL,
    TG_ITEM_CUSTOM /* its arguments are gathered and unwrapped at its end */
};

struct tg_item {
    enum tg_item_kind kind;
    char *id;
    struct tg_buf text;      /* text, refusal, summary, arguments or input */
    struct tg_buf encrypted; /* of reasoning */
    struct tg_json *call;    /* call_id, name, namespace of a call */
    int64_t call_index;      /* Chat's */
    struct tg_balance balance;
    bool closed;
};

struct tg_items {
    struct tg_hop hop;
    bool started;
    struct tg_chunk_head head; /* in the request's arena */
    struct tg_span core;       /* of its id */
    int64_t sequence;
    struct tg_item *items; /* in the order of their output_index */
    size_t count, cap;
    size_t open; /* the message or reasoning item that is open, plus 1; 0: none */
    struct tg_json *usage;
    char *finish; /* NULL: not known */
};

/* {"type":…,"sequence_number":…} */
struct tg_json *tg_items_event(struct tg_items *state, const char *type) must_check
    non_null(1, 2);
void tg_items_give(struct tg_hop_out *out, struct tg_json *event) non_null(1, 2);
/* An item as it stands, with <status> where its kind has one. */
struct tg_json *tg_items_json(const struct tg_item *item, const char *status) must_check
    non_null(1, 2);

void tg_items_text(struct tg_items *state, struct tg_hop_out *out, enum tg_item_kind kind,
                   struct tg_span text) non_null(1, 2);
/* Text of reasoning; "" opens the item alone. */
void tg_items_reasoning(struct tg_items *state, struct tg_hop_out *out, struct tg_span text)
    non_null(1, 2);
/* An entry of reasoning_details. */
void tg_items_detail(struct tg_items *state, struct tg_hop_out *out, const struct tg_json *detail)
    non_null(1, 2, 3);
/* An entry of tool_calls. */
void tg_items_call(struct tg_items *state, struct tg_hop_out *out, const struct tg_json *entry)
    non_null(1, 2, 3);
/* Closes the message or reasoning item that is open. */
void tg_items_close(struct tg_items *state, struct tg_hop_out *out) non_null(1, 2);
/* And every call. */
void tg_items_close_all(struct tg_items *state, struct tg_hop_out *out) non_null(1, 2);
void tg_items_free(struct tg_items *state) non_null(1);

#endif
