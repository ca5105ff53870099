/* chat_to_messages - the state of a Chat stream on its way to events of Messages (PROTOCOLS D2).
 *
 * One block is open at a time, blocks are numbered in the order of their opening, and each is
 * stopped before the next begins: fragments of a call that is not at turn wait. For the files
 * chat_to_messages_*.c alone.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_CHAT_TO_MESSAGES_H
#define TOLLGATE_CONVERT_CHAT_TO_MESSAGES_H

#include "fcgi-app/convert/balance.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/hub.h"

enum tg_block { TG_BLOCK_NONE, TG_BLOCK_TEXT, TG_BLOCK_THINKING, TG_BLOCK_TOOL, TG_BLOCK_REDACTED };

struct tg_blocks_call {
    int64_t index;
    char *id, *name, *signature; /* name NULL: not known yet; signature: Gemini's, NULL: none */
    struct tg_buf waiting;       /* arguments that came before its turn */
    struct tg_balance balance;
    bool opened, closed;
};

struct tg_blocks {
    struct tg_hop hop;
    bool started;
    char *id; /* of the stream */
    int64_t next_index, open_index;
    enum tg_block open, last;
    bool is_signed; /* the open thinking block has its signature */
    struct tg_blocks_call *calls;
    size_t call_count, call_cap;
    size_t open_call; /* when open is TG_BLOCK_TOOL */
    struct tg_buf late_text, refusal;
    struct tg_json *usage;
    char *finish, *stop_sequence; /* NULL: not known */
};

/* {"type":<type>} */
struct tg_json *tg_blocks_event(const char *type) must_check non_null(1);
void tg_blocks_give(struct tg_hop_out *out, struct tg_json *event) non_null(1, 2);
/* A delta of the open block with one string. */
void tg_blocks_delta(struct tg_blocks *state, struct tg_hop_out *out, const char *type,
                     const char *key, struct tg_span text) non_null(1, 2, 3, 4);
/* Closes what is open, then opens; takes <content>. */
void tg_blocks_open(struct tg_blocks *state, struct tg_hop_out *out, enum tg_block kind,
                    struct tg_json *content) non_null(1, 2, 4);
void tg_blocks_close(struct tg_blocks *state, struct tg_hop_out *out) non_null(1, 2);
/* A whole redacted_thinking block around a payload of another family. */
void tg_blocks_wrapped(struct tg_blocks *state, struct tg_hop_out *out, enum tg_origin origin,
                       struct tg_span payload) non_null(1, 2);
/* The open block is a call whose arguments are not complete. */
bool tg_blocks_call_is_open(const struct tg_blocks *state) non_null(1);

void tg_blocks_text(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span text)
    non_null(1, 2);
void tg_blocks_thinking(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span text)
    non_null(1, 2);
/* An entry of reasoning_details. */
void tg_blocks_detail(struct tg_blocks *state, const struct tg_json *detail,
                      struct tg_hop_out *out) non_null(1, 2, 3);
/* An entry of tool_calls. */
void tg_blocks_call(struct tg_blocks *state, const struct tg_json *entry, struct tg_hop_out *out)
    non_null(1, 2, 3);
/* Opens the calls that are at turn; <all>: every one, complete or not. */
void tg_blocks_pump(struct tg_blocks *state, struct tg_hop_out *out, bool all) non_null(1, 2);

#endif
