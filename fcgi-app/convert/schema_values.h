/* schema_values - constants, lists of values, formats and bounds of a schema as Gemini says them.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS B0.10.
 */
#ifndef TOLLGATE_CONVERT_SCHEMA_VALUES_H
#define TOLLGATE_CONVERT_SCHEMA_VALUES_H

#include "fcgi-app/convert/convert.h"

struct tg_schema_losses {
    bool rewritten; /* said otherwise */
    bool lossy;     /* no longer said, or in words only */
};

/* "string" is "STRING". */
void tg_schema_set_type(struct tg_json *made, struct tg_span type) non_null(1);
void tg_schema_set_nullable(struct tg_schema_losses *losses, struct tg_json *made) non_null(1, 2);
/* What <schema> says of values, to <made>, whose type is known. */
void tg_schema_values(struct tg_schema_losses *losses, const struct tg_json *schema,
                      struct tg_json *made) non_null(1, 2, 3);

#endif
