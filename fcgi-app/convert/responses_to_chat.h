/* responses_to_chat - what the files of the converter from Responses to Chat share.
 *
 * Threads  as convert.h.
 */
#ifndef TOLLGATE_CONVERT_RESPONSES_TO_CHAT_H
#define TOLLGATE_CONVERT_RESPONSES_TO_CHAT_H

#include "fcgi-app/convert/toolset.h"

/* "messages" of the Chat request <made>: the instructions, then every item (PROTOCOLS B5). */
enum tg_class tg_responses_to_chat_messages(const struct tg_convert *context,
                                            const struct tg_json *request, struct tg_json *made,
                                            struct tg_error *err) must_check non_null(1, 2, 3);

/* The turn of the assistant that is being gathered: items become one message. */
struct tg_turn {
    const struct tg_convert *context;
    struct tg_buf text, refusal, reasoning;
    struct tg_json *details, *calls;
    struct tg_span signature; /* Gemini's, for the next call */
};
void tg_turn_begin(struct tg_turn *turn, const struct tg_convert *context) non_null(1, 2);
bool tg_turn_has_calls(const struct tg_turn *turn) non_null(1);
void tg_turn_add_message(struct tg_turn *turn, const struct tg_json *item, const char *path)
    non_null(1, 2, 3);
void tg_turn_add_reasoning(struct tg_turn *turn, const struct tg_json *item, const char *path)
    non_null(1, 2, 3);
void tg_turn_add_call(struct tg_turn *turn, const struct tg_json *item, const char *path)
    non_null(1, 2, 3);
/* The message, which is the caller's, and a turn that is empty again; NULL: it was empty, or held
 * reasoning alone, which makes no message. */
struct tg_json *tg_turn_take(struct tg_turn *turn) must_check non_null(1);
void tg_turn_done(struct tg_turn *turn) non_null(1);

/* A part of an input message as a part of Chat, pushed to <parts>. */
void tg_responses_to_chat_part(const struct tg_convert *context, const struct tg_json *part,
                               const char *path, struct tg_json *parts) non_null(1, 2, 3, 4);

#endif
