/* list_requests - pages of the request log, newest first. Form and paging as list.h says.
 *
 * Whatever filters are set, one index leads and is walked from the page's place backwards: the
 * request's id, else the rarest of fallback, errors, token, user, channel, model, time. When
 * further filters are set a page looks at TG_REQUESTS_LOOKED rows at most: it may then hold fewer
 * rows than were asked for, or none, and still have a next one; "searched_to" says how far it
 * looked.
 *
 * Errors, threads  as list.h; the connection is one to the log database.
 */
#ifndef TOLLGATE_STORE_LIST_REQUESTS_H
#define TOLLGATE_STORE_LIST_REQUESTS_H

#include "common/base/id.h"
#include "common/store/list.h"

enum { TG_REQUESTS_LOOKED = 1000 };
struct tg_request_filter {
    int64_t from_unix_us, to_unix_us; /* to: exclusive; 0: no bound */
    int64_t user_id, token_id, channel_id;
    const char *model; /* the one that served */
    int64_t status;
    bool errors_only;   /* status 400 and above, or an error code */
    bool fallback_only; /* another model served than was asked for */
    const struct tg_id *request_id;
    bool own; /* without what is the operator's: channel, upstream model, attempts, losses */
    struct tg_db *names_db; /* main: rows get "username", "channel_name"; NULL: they do not */
};
/* Each row has what a list shows; tg_view_request (view.h) has all of one request. */
enum tg_class tg_list_requests(struct tg_db *log, const struct tg_request_filter *filter,
                               const struct tg_page *page, struct tg_json_writer *out,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* CSV of the same rows. */
enum tg_class tg_csv_requests(struct tg_db *log, const struct tg_request_filter *filter,
                              const struct tg_page *page, struct tg_csv *csv,
                              struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);

#endif
