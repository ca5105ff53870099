/* chat_event - what one event of a Chat stream, or one whole Chat answer, says.
 *
 * Read in place, without a tree. An answer is read like one large event whose choices hold
 * "message" where a stream's hold "delta".
 *
 * Content is what a client may be charged for: text, reasoning, refusal, a tool call, audio, an
 * image. Roles, empty strings, empty arrays and error texts are none.
 *
 * Pure.  Threads  any.  Blocks  no.  Source  PROTOCOLS A4, A6, C3; POLICIES R1-R3.
 */
#ifndef TOLLGATE_CONVERT_CHAT_EVENT_H
#define TOLLGATE_CONVERT_CHAT_EVENT_H

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/price/usage.h"

enum tg_chat_content {
    TG_CHAT_TEXT = 1u << 0,
    TG_CHAT_REASONING = 1u << 1,
    TG_CHAT_REFUSAL = 1u << 2,
    TG_CHAT_TOOL_CALL = 1u << 3,
    TG_CHAT_AUDIO = 1u << 4,
    TG_CHAT_IMAGE = 1u << 5
};

enum tg_chat_choices { TG_CHAT_NO_CHOICES, TG_CHAT_EMPTY_CHOICES, TG_CHAT_CHOICES };

struct tg_chat_event {
    bool done;      /* "[DONE]": nothing else is set */
    bool idle;      /* a keep-alive of the upstream's: nothing else is set */
    bool malformed; /* no JSON object, or one that the strict gate refuses: nothing else is set.
                     * Half a surrogate pair in a string is allowed, as streams cut pairs. */
    bool has_error;
    struct tg_error error; /* as error_body.h reads it */
    unsigned content;      /* enum tg_chat_content; 0: none */
    enum tg_chat_choices choices;
    char finish_reason[32]; /* of the first choice that has one; empty: none yet */
    bool has_usage;         /* some figure above zero was reported */
    struct tg_usage usage;
    struct tg_span model; /* as written, quotes included; len 0: not there */
};

/* <data>: of one SSE event. <content> (NULL allowed) gets, behind what it holds, the generated
 * text for counting locally: every kind of it, tool names and arguments included. */
void tg_chat_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
    non_null(2);
/* <body>: of a whole answer with status 2xx. */
void tg_chat_answer_read(struct tg_span body, struct tg_chat_event *ret, struct tg_buf *content)
    non_null(2);

#endif
