/* ids - a list of ids as one parameter: JSON array of UUID texts, for JSON_TABLE(?, …).
 *
 * So a list of any length goes into a prepared statement; MySQL 8 and MariaDB 10.6 have it.
 *
 *     tg_buf_init(&json, 0);
 *     for (…) tg_ids_add(&json, &id);
 *     tg_ids_end(&json);          "[\"0197…\",\"0197…\"]"
 *
 * For common/store only.  Pure.
 */
#ifndef TOLLGATE_STORE_IDS_H
#define TOLLGATE_STORE_IDS_H

#include "common/base/buf.h"
#include "common/base/id.h"

void tg_ids_add(struct tg_buf *json, const struct tg_id *id) non_null(1, 2);
void tg_ids_end(struct tg_buf *json) non_null(1);

#endif
