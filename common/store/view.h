/* view - rows as JSON for people and programs: the column names of the tables are the keys.
 *
 * Amounts come twice: "quota" in units and "quota_usd" as a decimal text. Times are RFC 3339 in
 * UTC. Secrets (password hashes, fingerprints, sealed keys) are in no view.
 *
 * Errors   those of db.h; TG_CLASS_NOT_FOUND "user_not_found", "token_not_found",
 *          "channel_not_found", "request_not_found".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_VIEW_H
#define TOLLGATE_STORE_VIEW_H

#include "common/base/id.h"
#include "common/json/writer.h"
#include "common/sql/db.h"

/* Only the members, into an object that is open: the caller adds the live balance. */
enum tg_class tg_view_user(struct tg_db *db, const char *username, struct tg_json_writer *out,
                           struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_view_token(struct tg_db *db, int64_t token_id, struct tg_json_writer *out,
                            struct tg_error *err) must_check non_null(1, 3);
enum tg_class tg_view_channel(struct tg_db *db, int64_t channel_id, struct tg_json_writer *out,
                              struct tg_error *err) must_check non_null(1, 3);
/* Only the members, into an object that is open. */
enum tg_class tg_view_token_members(struct tg_db *db, int64_t token_id,
                                    struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3);
enum tg_class tg_view_channel_members(struct tg_db *db, int64_t channel_id,
                                      struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3);
/* All channels, an array. */
enum tg_class tg_view_channels(struct tg_db *db, struct tg_json_writer *out, struct tg_error *err)
    must_check non_null(1, 2);
/* Log database: a request with its detail. */
enum tg_class tg_view_request(struct tg_db *log, const struct tg_id *request_id,
                              struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 2, 3);

#endif
