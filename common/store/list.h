/* list - pages of rows for people: typed filters in, JSON rows and a cursor out.
 *
 * Each list writes two members into an object that is open: "rows", an array of objects whose keys
 * are the column names (as view.h: amounts twice, times in RFC 3339, no secrets), and "next", the
 * cursor of the page behind it or null. Pages go by key, never by OFFSET, and nothing is counted:
 * a page costs the same wherever it lies. A filter member that is 0 or NULL does not filter.
 *
 * Errors   those of db.h; TG_CLASS_INVALID "invalid_cursor", "invalid_sort"; `param` says which.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_LIST_H
#define TOLLGATE_STORE_LIST_H

#include "common/json/writer.h"
#include "common/sql/db.h"

enum { TG_PAGE_MOST = 500, TG_PAGE_USUAL = 50, TG_CURSOR_TEXT = 1700 };

struct tg_page {
    int limit;         /* rows; 0: TG_PAGE_USUAL; at most TG_PAGE_MOST */
    const char *sort;  /* a key of the list, "-" in front: downwards; NULL or "": its default */
    const char *after; /* "next" of the page before; NULL or "": the first page */
};

/* A page as CSV (RFC 4180): a cell that a spreadsheet would run gets a ' in front; the first page
 * begins with the columns' names. */
struct tg_csv {
    struct tg_buf *out;
    char next[TG_CURSOR_TEXT]; /* out: the cursor to go on with, "" at the end */
};

/* Sorts: id (default, newest first: "-id"), username, quota, used_quota. */
struct tg_user_filter {
    const char *search; /* part of the name */
    const char *role, *status, *group_name, *team;
};
enum tg_class tg_list_users(struct tg_db *db, const struct tg_user_filter *filter,
                            const struct tg_page *page, struct tg_json_writer *out,
                            struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);

/* Sorts: id ("-id" by default), name, remain_quota, used_quota. Rows have "username" too. */
struct tg_token_filter {
    int64_t user_id;
    const char *search; /* part of the name, or the last four characters */
    const char *status, *group_name, *team;
};
enum tg_class tg_list_tokens(struct tg_db *db, const struct tg_token_filter *filter,
                             const struct tg_page *page, struct tg_json_writer *out,
                             struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);

/* Sorts: id (default), name, priority. Rows have "key_count" and "key_hint" too. */
struct tg_channel_filter {
    const char *search; /* part of the name */
    const char *provider, *status, *tag;
    const char *group_name, *model; /* has an ability for it */
};
enum tg_class tg_list_channels(struct tg_db *db, const struct tg_channel_filter *filter,
                               const struct tg_page *page, struct tg_json_writer *out,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* "rows" only: id, position, hint, state, state_reason, used …; never what is sealed. */
enum tg_class tg_list_channel_keys(struct tg_db *db, int64_t channel_id,
                                   struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3, 4);

/* The members of one of them, into an object that is open: "key_not_found". */
enum tg_class tg_view_channel_key(struct tg_db *db, int64_t channel_id, int64_t key_id,
                                  struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 4, 5);
/* [{"state", "count"}, …] */
enum tg_class tg_count_channel_keys(struct tg_db *db, int64_t channel_id,
                                    struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3, 4);

/* Sort: name. Rows have "users", "channels": whether any is in it. */
enum tg_class tg_list_groups(struct tg_db *db, const char *search, const struct tg_page *page,
                             struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3, 4, 5);
/* "rows" only, of one user group (NULL: all, at most TG_PAGE_MOST). */
enum tg_class tg_list_group_access(struct tg_db *db, const char *user_group,
                                   struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 3, 4);

/* Sort: model. <form>: token, call, tier, expression. */
struct tg_price_filter {
    const char *search; /* part of the name */
    const char *form;
};
enum tg_class tg_list_prices(struct tg_db *db, const struct tg_price_filter *filter,
                             const struct tg_page *page, struct tg_json_writer *out,
                             struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
/* One of them: its members, into an object that is open. TG_CLASS_NOT_FOUND "price_not_found". */
enum tg_class tg_view_price(struct tg_db *db, const char *model, struct tg_json_writer *out,
                            struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* Models of enabled abilities for which no price and no price pattern is set. Sort: model. */
enum tg_class tg_list_unpriced(struct tg_db *db, const struct tg_page *page,
                               struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

/* "rows" only: name, value, updated_at, updated_by, username of every row of options. */
enum tg_class tg_list_options(struct tg_db *db, struct tg_json_writer *out, struct tg_error *err)
    must_check non_null(1, 2, 3);

/* Newest first. */
struct tg_audit_filter {
    int64_t actor_id;
    const char *action; /* "user.status", or "user." for all that begin so */
    const char *object_type, *object_id;
    int64_t from_unix_us, to_unix_us; /* to: exclusive */
};
enum tg_class tg_list_audit(struct tg_db *db, const struct tg_audit_filter *filter,
                            const struct tg_page *page, struct tg_json_writer *out,
                            struct tg_error *err) must_check non_null(1, 2, 3, 4, 5);
enum tg_class tg_csv_audit(struct tg_db *db, const struct tg_audit_filter *filter,
                           const struct tg_page *page, struct tg_csv *csv, struct tg_error *err)
    must_check non_null(1, 2, 3, 4, 5);

#endif
