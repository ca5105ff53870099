/* chat_read - what every converter that reads Chat reads alike.
 *
 * Pure.  Owns  what is given out is borrowed from what was given in.  Threads  as convert.h.
 * Source  PROTOCOLS C1, D0.
 */
#ifndef TOLLGATE_CONVERT_CHAT_READ_H
#define TOLLGATE_CONVERT_CHAT_READ_H

#include "fcgi-app/convert/convert.h"

/* For clients that know one answer only: the choice of a whole answer, NULL without any; more are
 * noted as lost. */
const struct tg_json *tg_chat_only_choice(const struct tg_convert *context,
                                          const struct tg_json *answer) must_check non_null(1, 2);
/* The same of a chunk: what it says of choice 0. */
const struct tg_json *tg_chat_chunk_choice(const struct tg_convert *context,
                                           const struct tg_json *chunk) must_check non_null(1, 2);
/* The error of an answer or chunk that has one, in our words; its class. */
enum tg_class tg_chat_error(const struct tg_json *said, struct tg_error *err) non_null(1, 2);
/* Notes that nobody speaks where audio was asked for. */
void tg_chat_note_audio(const struct tg_convert *context, const struct tg_json *request)
    non_null(1, 2);

#endif
