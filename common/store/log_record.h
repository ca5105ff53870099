/* log_record - one record as the values of its rows in request_log and request_detail.
 *
 * Unknown keys are ignored, missing ones are 0 or ''; texts are cut to what the column holds,
 * numbers stop at its bounds, so that no record can hold a batch up.
 *
 * Pure.  Owns: texts live in the arena, or in the line.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_LOG_RECORD_H
#define TOLLGATE_STORE_LOG_RECORD_H

#include "common/base/arena.h"
#include "common/base/id.h"
#include "common/sql/db.h"

enum { TG_LOG_COLUMNS = 46, TG_DETAIL_COLUMNS = 6 };

struct tg_log_record {
    struct tg_id id;
    const char *created_at;
    struct tg_db_value log[TG_LOG_COLUMNS];
    struct tg_db_value detail[TG_DETAIL_COLUMNS];
    bool has_detail;
};

/* Names in the order of the values. */
const char *tg_log_column(int i);
const char *tg_detail_column(int i);

/* False when <line> has no log object with an id; it is left out then. */
bool tg_log_record_read(const char *line, size_t len, struct tg_arena *arena,
                        struct tg_log_record *ret) must_check non_null(1, 3, 4);
/* Keeps what money and readers cannot do without: who, when, how much. */
void tg_log_record_reduce(struct tg_log_record *record) non_null(1);

#endif
