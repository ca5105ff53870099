/* schema_gemini - JSON Schema in the two forms that Gemini takes, and Gemini's own as JSON Schema.
 *
 * The newer models take JSON Schema itself, without the keywords that Google does not know; the
 * others a small language of OpenAPI, in which most keywords can still be said: references are
 * written out, null becomes nullable, a constant a list of one. What cannot be said at all goes
 * into the description, and is noted.
 *
 * Pure.  Owns  trees given out are the caller's.  Threads  any.  Source  PROTOCOLS B0.10.
 */
#ifndef TOLLGATE_CONVERT_SCHEMA_GEMINI_H
#define TOLLGATE_CONVERT_SCHEMA_GEMINI_H

#include "fcgi-app/convert/convert.h"

/* Which form the upstream's model takes. */
bool tg_gemini_takes_json_schema(const struct tg_convert *context) must_check non_null(1);

/* "parameters", "responseSchema"; diagnostics at <path>. NULL: an object without properties, which
 * Gemini wants left out. */
struct tg_json *tg_schema_to_gemini(const struct tg_convert *context, const struct tg_json *schema,
                                    const char *path) must_check non_null(1, 2, 3);
/* "parametersJsonSchema", "responseJsonSchema". */
struct tg_json *tg_schema_for_gemini(const struct tg_convert *context,
                                     const struct tg_json *schema, const char *path) must_check
    non_null(1, 2, 3);
/* Gemini's form as JSON Schema. schema_of_gemini.c */
struct tg_json *tg_schema_of_gemini(const struct tg_json *schema) must_check non_null(1);

#endif
