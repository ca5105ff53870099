/* chat_to_responses_request - what the files of the converter from Chat to Responses share.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_CHAT_TO_RESPONSES_REQUEST_H
#define TOLLGATE_CONVERT_CHAT_TO_RESPONSES_REQUEST_H

#include "fcgi-app/convert/toolset.h"

/* "instructions" and "input" of the request <made> (PROTOCOLS B6, B0.4). */
enum tg_class tg_chat_to_responses_input(const struct tg_convert *context,
                                         const struct tg_json *request, struct tg_json *made,
                                         struct tg_error *err) must_check non_null(1, 2, 3);
/* The parts of a message's content, pushed to <parts>. */
void tg_chat_to_responses_parts(const struct tg_convert *context, const struct tg_json *content,
                                const char *path, struct tg_json *parts) non_null(1, 2, 3, 4);
/* Items for what the assistant said, pushed to <items>. */
void tg_chat_to_responses_assistant(const struct tg_convert *context,
                                    const struct tg_json *message, const char *path,
                                    struct tg_json *items) non_null(1, 2, 3, 4);
/* Is it a call of a tool that takes raw text? */
bool tg_chat_to_responses_is_custom(const struct tg_convert *context, const struct tg_json *call)
    must_check non_null(1, 2);

#endif
