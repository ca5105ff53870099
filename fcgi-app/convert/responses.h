/* responses - pieces of the Responses dialect that several converters read or make.
 *
 * Pure.  Owns  trees given out are the caller's.  Threads  any.
 * Source  PROTOCOLS A8, C1-C3, D0 "R"; the types of the official SDK.
 */
#ifndef TOLLGATE_CONVERT_RESPONSES_H
#define TOLLGATE_CONVERT_RESPONSES_H

#include "fcgi-app/convert/hub.h"

/* The response around its output, as the events of a stream and a whole answer have it: what the
 * client asked for is repeated where it is known, nothing is ever stored here. */
struct tg_json *tg_response_new(const struct tg_convert *context, const struct tg_chunk_head *head,
                                const char *status) must_check non_null(1, 2, 3);
/* {"reason":…}; NULL writes null. */
void tg_response_set_incomplete(struct tg_json *response, const char *reason) non_null(1);
/* Why an answer with Chat's <finish> is not whole; NULL: it is. */
const char *tg_response_incomplete(struct tg_span finish);
/* "finish_reason" of what a response says of itself; <has_calls>: it calls a tool. */
const char *tg_response_finish(const struct tg_json *response, bool has_calls) must_check
    non_null(1);

struct tg_hub_usage tg_usage_of_responses(const struct tg_json *usage) non_null(1);
struct tg_json *tg_usage_to_responses(const struct tg_hub_usage *usage) must_check non_null(1);

/* What a failed response, or an error event, says; in our words. */
void tg_error_of_responses(const struct tg_json *error, struct tg_error *ret) non_null(1, 2);
/* The short list of codes that response.failed may have. */
const char *tg_response_error_code(int status);

/* A part of an output message: {"type":"output_text","text":…,"annotations":[],"logprobs":[]}, or a
 * refusal. */
struct tg_json *tg_response_text_part(struct tg_span text) must_check;
struct tg_json *tg_response_refusal_part(struct tg_span text) must_check;
/* {"type":"summary_text","text":…} */
struct tg_json *tg_response_summary(struct tg_span text) must_check;
/* "encrypted_content" of an entry of reasoning_details: OpenAI's own as it is, others in an
 * envelope. False: the entry holds no payload. */
bool tg_response_encrypted(const struct tg_json *detail, struct tg_buf *out) must_check
    non_null(1, 2);

/* Name, and namespace where it has one, of the tool that the upstream calls <wire_name>; tells
 * whether the client declared it as a custom tool. */
bool tg_response_set_name(const struct tg_convert *context, struct tg_span wire_name,
                          struct tg_json *item) non_null(1, 3);
/* The raw text of a custom tool's call whose arguments are {"input":…}. The caller's to free. */
void tg_response_unwrap_input(struct tg_span arguments, struct tg_buf *out) non_null(2);

#endif
