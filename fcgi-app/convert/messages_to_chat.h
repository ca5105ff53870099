/* messages_to_chat - what the files of the converter from Messages to Chat share.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_MESSAGES_TO_CHAT_H
#define TOLLGATE_CONVERT_MESSAGES_TO_CHAT_H

#include "fcgi-app/convert/toolset.h"

/* "messages" of the Chat request <made>: the system prompt, then every turn (PROTOCOLS B1). */
enum tg_class tg_messages_to_chat_messages(const struct tg_convert *context,
                                           const struct tg_json *request, struct tg_json *made,
                                           struct tg_error *err) must_check non_null(1, 2, 3);
/* A content block of a user as parts of Chat, pushed to <parts>. */
void tg_messages_to_chat_part(const struct tg_convert *context, const struct tg_json *block,
                              const char *path, struct tg_json *parts) non_null(1, 2, 3, 4);
/* The blocks of an assistant's turn as one message. */
struct tg_json *tg_messages_to_chat_assistant(const struct tg_convert *context,
                                              const struct tg_json *content, const char *path)
    must_check non_null(1, 2, 3);

#endif
