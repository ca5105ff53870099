/* responses_event - what one event of a Responses stream, or one whole response, says.
 *
 * The facts are those of chat_event.h: `done` is response.completed or response.incomplete, which
 * hold the usage; response.failed and error are errors. Events that are no part of the protocol
 * (keep-alives, what a vendor tells its own client) are idle.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A4, A5, A8, D5; POLICIES R1-R3.
 */
#ifndef TOLLGATE_CONVERT_RESPONSES_EVENT_H
#define TOLLGATE_CONVERT_RESPONSES_EVENT_H

#include "fcgi-app/convert/chat_event.h"

void tg_responses_event_read(struct tg_span data, struct tg_chat_event *ret,
                             struct tg_buf *content) non_null(2);
void tg_responses_answer_read(struct tg_span body, struct tg_chat_event *ret,
                              struct tg_buf *content) non_null(2);
/* The event with <model> where its response names its model, behind what <out> holds. */
void tg_responses_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
    non_null(2, 3);

#endif
