/* chat_to_messages_request - what the files of the converter from Chat to Messages share.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_CHAT_TO_MESSAGES_REQUEST_H
#define TOLLGATE_CONVERT_CHAT_TO_MESSAGES_REQUEST_H

#include "fcgi-app/convert/toolset.h"

/* "system" and "messages" of <made>, in the order that Messages wants (PROTOCOLS B2, B0.2). */
enum tg_class tg_chat_to_messages_turns(const struct tg_convert *context,
                                        const struct tg_json *request, struct tg_json *made,
                                        struct tg_error *err) must_check non_null(1, 2, 3);
/* response_format as output_config.format, or as words of the system prompt (PROTOCOLS B0.13). */
void tg_chat_to_messages_format(const struct tg_convert *context, const struct tg_json *request,
                                struct tg_json *made) non_null(1, 2, 3);
/* The content of one message (a string or parts) as blocks, pushed to <blocks>. */
void tg_chat_to_messages_blocks(const struct tg_convert *context, const struct tg_json *content,
                                const char *path, struct tg_json *blocks) non_null(1, 2, 3, 4);
/* The blocks of an assistant's message: reasoning, text, calls. The caller's. */
struct tg_json *tg_chat_to_messages_assistant(const struct tg_convert *context,
                                              const struct tg_json *message, const char *path)
    must_check non_null(1, 2, 3);
/* The turns in the order that Messages wants: results behind their calls, equal roles merged, a
 * user first. Takes <turns>, whose content is always a list. messages_order.c. */
struct tg_json *tg_messages_order(const struct tg_convert *context, struct tg_json *turns)
    must_check non_null(1, 2);

#endif
