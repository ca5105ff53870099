/* chat_edges - Chat as it comes from all kinds of servers, and as it goes to clients.
 *
 * source  repairs what servers do differently: absent deltas and choices, numbers of parallel tool
 *         calls that repeat or miss, content in parts, finish reasons outside the list, errors as
 *         chunks.
 * sink    takes out the hub's own keys and a usage chunk that the client did not ask for.
 *
 * Pure.  Threads  as convert.h.  Source  PROTOCOLS D0 "Chat upstream normaliser", "Chat sink".
 */
#ifndef TOLLGATE_CONVERT_CHAT_EDGES_H
#define TOLLGATE_CONVERT_CHAT_EDGES_H

#include "fcgi-app/convert/convert.h"

extern const struct tg_hop_kind tg_hop_chat_source, tg_hop_chat_sink;

/* A whole answer, repaired in place like a stream's chunks. */
void tg_chat_answer_normalise(struct tg_json *answer) non_null(1);
/* Takes out every member whose key begins with "x_", at any depth, except inside the JSON that
 * models and people write (arguments are strings; tools, formats and metadata are theirs). */
void tg_chat_strip(struct tg_json *value) non_null(1);
bool tg_chat_has_hidden(const struct tg_json *value) must_check non_null(1);

#endif
