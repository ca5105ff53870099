/* chat_wire - a request of the hub as it goes to a Chat upstream.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS B1 "Chat-upstream serialisation".
 */
#ifndef TOLLGATE_CONVERT_CHAT_WIRE_H
#define TOLLGATE_CONVERT_CHAT_WIRE_H

#include "fcgi-app/convert/convert.h"

/* Takes out what OpenAI refuses: the hub's keys, reasoning of other families, cache hints; says in
 * words that a tool failed. In place. */
void tg_chat_request_finish(const struct tg_convert *context, struct tg_json *request)
    non_null(1, 2);

#endif
