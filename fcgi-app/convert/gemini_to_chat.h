/* gemini_to_chat - what the files of the converter from Gemini to Chat share.
 *
 * Owns  trees given out are the caller's.  Threads  as convert.h.  Source  PROTOCOLS B3.
 */
#ifndef TOLLGATE_CONVERT_GEMINI_TO_CHAT_H
#define TOLLGATE_CONVERT_GEMINI_TO_CHAT_H

#include "fcgi-app/convert/toolset.h"

/* What a Gemini client wants of its answer: thoughts, several candidates. */
void tg_gemini_wishes(const struct tg_json *request, struct tg_convert *context) non_null(1, 2);

/* "messages" of the Chat request <made>: the system instruction, then every turn. */
enum tg_class tg_gemini_to_chat_messages(const struct tg_convert *context,
                                         const struct tg_json *request, struct tg_json *made,
                                         struct tg_error *err) must_check non_null(1, 2, 3);
/* A user's part as parts of Chat, pushed to <parts>; <detail> (NULL: none) of its images. */
void tg_gemini_to_chat_part(const struct tg_convert *context, const struct tg_json *part,
                            const char *path, const char *detail, struct tg_json *parts)
    non_null(1, 2, 3, 5);

/* The parts of a model's turn, gathered over the contents that stand together. */
struct tg_gemini_turn;
struct tg_gemini_turn *tg_gemini_turn_open(const struct tg_convert *context) must_check
    non_null(1);
/* <at> and <part_at>: where it stands, for the id of a call that has none. */
void tg_gemini_turn_part(struct tg_gemini_turn *turn, const struct tg_json *part, size_t at,
                         size_t part_at) non_null(1, 2);
/* The message, and the end of the turn. NULL: it said nothing. */
struct tg_json *tg_gemini_turn_close(struct tg_gemini_turn *turn) must_check non_null(1);

/* Generation's part of the request: sampling, limits, format, thinking. */
enum tg_class tg_gemini_to_chat_generation(const struct tg_convert *context,
                                           const struct tg_json *request, struct tg_json *made,
                                           struct tg_error *err) must_check non_null(1, 2, 3);

#endif
