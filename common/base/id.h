/* id - time-ordered identifiers: UUID version 7 (RFC 9562 5.7).
 *
 * Every key of the books is one: keys sort by time, and the day partition of an entry follows
 * from its id alone.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_ID_H
#define TOLLGATE_BASE_ID_H

#include "common/base/base.h"

enum { TG_ID_BYTES = 16, TG_ID_TEXT = 37 };

struct tg_id {
    uint8_t bytes[TG_ID_BYTES];
};

struct tg_id tg_id_new(void);
void tg_id_format(const struct tg_id *id, char text[TG_ID_TEXT]) non_null(1);
bool tg_id_parse(const char *text, struct tg_id *ret) must_check non_null(1, 2);
int64_t tg_id_unix_ms(const struct tg_id *id) non_null(1);

#endif
