/* gemini_event - what one chunk of a Gemini stream, or one whole answer, says.
 *
 * Both have one shape. The facts are those of chat_event.h: there is no `done`, a stream of Gemini
 * ends with its transport; `finish_reason` is that of the first candidate that has one, or why the
 * prompt was blocked, as written. Usage is cumulative over a stream (usage_figures.h).
 *
 * Pure.  Threads  any.  Source  PROTOCOLS A4, A6, D3; POLICIES R1-R3.
 */
#ifndef TOLLGATE_CONVERT_GEMINI_EVENT_H
#define TOLLGATE_CONVERT_GEMINI_EVENT_H

#include "fcgi-app/convert/chat_event.h"

void tg_gemini_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
    non_null(2);
/* The chunk or answer with <model> as its modelVersion, behind what <out> holds. */
void tg_gemini_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
    non_null(2, 3);

#endif
