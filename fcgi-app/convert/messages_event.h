/* messages_event - what one event of a Messages stream, or one whole message, says.
 *
 * The facts are those of chat_event.h: `done` is message_stop, `finish_reason` the stop_reason as
 * written. Usage is read of a whole message only: in a stream it is cumulative over the events
 * (usage_figures.h).
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A4, A5, D1; POLICIES R1-R3.
 */
#ifndef TOLLGATE_CONVERT_MESSAGES_EVENT_H
#define TOLLGATE_CONVERT_MESSAGES_EVENT_H

#include "fcgi-app/convert/chat_event.h"

void tg_messages_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
    non_null(2);
void tg_messages_answer_read(struct tg_span body, struct tg_chat_event *ret,
                             struct tg_buf *content) non_null(2);
/* The event or message with <model> where it names its model, behind what <out> holds. */
void tg_messages_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
    non_null(2, 3);

#endif
