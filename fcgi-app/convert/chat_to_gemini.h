/* chat_to_gemini - what the converters from Chat to Gemini share, of answers and of requests.
 *
 * For the files chat_to_gemini_*.c alone.
 *
 * Owns  trees given out are the caller's.  Threads  as convert.h.  Source  PROTOCOLS 0.3, B4, D4.
 */
#ifndef TOLLGATE_CONVERT_CHAT_TO_GEMINI_H
#define TOLLGATE_CONVERT_CHAT_TO_GEMINI_H

#include "fcgi-app/convert/convert.h"

/* --- answers: chat_to_gemini_parts.c --- */

/* {"content":{"role":"model","parts":[<part>]},"finishReason":<finish>,"index":<index>}. Takes
 * <part>; <finish> NULL: not yet. */
struct tg_json *tg_gemini_candidate(int64_t index, struct tg_json *part, const char *finish)
    must_check non_null(2);

struct tg_gemini_call {
    const char *id; /* NULL: none */
    struct tg_span name, arguments, signature;
};
struct tg_json *tg_gemini_call_part(const struct tg_convert *context,
                                    const struct tg_gemini_call *call) must_check non_null(1, 2);
/* An entry of reasoning_details: Gemini's own signature as it is, another family's in its envelope
 * when the client wants thoughts. NULL: nothing to say. */
struct tg_json *tg_gemini_detail_part(const struct tg_convert *context,
                                      const struct tg_json *detail) must_check non_null(1, 2);

/* --- requests --- */

/* "contents" and "systemInstruction" of the request <made>. chat_to_gemini_turns.c */
enum tg_class tg_chat_to_gemini_turns(const struct tg_convert *context,
                                      const struct tg_json *request, struct tg_json *made,
                                      struct tg_error *err) must_check non_null(1, 2, 3);
/* What a user sends, as parts pushed to <parts>. chat_to_gemini_media.c */
void tg_chat_to_gemini_parts(const struct tg_convert *context, const struct tg_json *content,
                             const char *path, struct tg_json *parts) non_null(1, 2, 3, 4);
/* Puts the contents in the order that Gemini wants; in place. gemini_order.c */
void tg_gemini_order(const struct tg_convert *context, struct tg_json *contents) non_null(1, 2);
/* response_format into <config>, a generationConfig; <made> is the request around it.
 * chat_to_gemini_format.c */
void tg_chat_to_gemini_format(const struct tg_convert *context, const struct tg_json *request,
                              struct tg_json *made, struct tg_json *config) non_null(1, 2, 3, 4);

#endif
