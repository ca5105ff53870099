/* gemini_hub - pieces of Gemini's language that its converters in both directions share.
 *
 * Gemini takes every key of a request in two spellings, "inlineData" and "inline_data": the
 * getters here look for both, the camel case is the one to name. What is written is camel case.
 *
 * Pure.  Owns  trees given out are the caller's.  Threads  any.  Source  PROTOCOLS 0.6, A7, C2, C3.
 */
#ifndef TOLLGATE_CONVERT_GEMINI_HUB_H
#define TOLLGATE_CONVERT_GEMINI_HUB_H

#include "fcgi-app/convert/hub.h"

/* The value that stands in for a signature that was lost; Google documents it. */
#define TG_GEMINI_NO_SIGNATURE "skip_thought_signature_validator"

/* A member in either spelling; NULL: absent or null. Borrowed. */
const struct tg_json *tg_gemini_get(const struct tg_json *object, const char *key) must_check
    non_null(1, 2);
/* The same, of one type only. */
const struct tg_json *tg_gemini_object(const struct tg_json *object, const char *key) must_check
    non_null(1, 2);
const struct tg_json *tg_gemini_array(const struct tg_json *object, const char *key) must_check
    non_null(1, 2);
/* "" when it is no filled string. */
struct tg_span tg_gemini_text(const struct tg_json *object, const char *key) must_check
    non_null(1, 2);
bool tg_gemini_true(const struct tg_json *object, const char *key) must_check non_null(1, 2);
/* Is <key>, in either spelling, the name <camel>? */
bool tg_gemini_key_is(const char *key, const char *camel) must_check non_null(1, 2);
bool tg_gemini_is_empty(const struct tg_json *object) must_check non_null(1); /* no members */

bool tg_span_is(struct tg_span text, const char *word) must_check non_null(2);

/* usageMetadata: thoughts are beside candidates, tool use beside the prompt. */
struct tg_hub_usage tg_usage_of_gemini(const struct tg_json *usage) non_null(1);
struct tg_json *tg_usage_to_gemini(const struct tg_hub_usage *usage) must_check non_null(1);

/* "stop" for STOP and for every word that is not known. */
const char *tg_finish_of_gemini(struct tg_span reason) must_check;
/* The model's own call or answer came out malformed: without content it is an error. */
bool tg_finish_is_broken(struct tg_span reason) must_check;
void tg_error_broken(struct tg_span reason, struct tg_error *ret) non_null(2);
const char *tg_finish_to_gemini(struct tg_span finish, bool refused) must_check;

/* An error object ({"code":…,"message":…,"status":…}) in our words. */
void tg_error_of_gemini(const struct tg_json *error, struct tg_error *ret) non_null(1, 2);
/* {"error":…}, or that in an array. NULL: the value is none. */
const struct tg_json *tg_gemini_error_in(const struct tg_json *value) must_check non_null(1);

/* The entry of reasoning_details that holds a signature of Gemini's own. */
struct tg_json *tg_gemini_detail(struct tg_span signature) must_check;
/* extra_content of a call, around its signature. */
struct tg_json *tg_gemini_extra(struct tg_span signature) must_check;
/* The signature in a call's extra_content; "" without one. */
struct tg_span tg_gemini_signature_of(const struct tg_json *call) must_check non_null(1);

#endif
