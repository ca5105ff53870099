/* paging - what the lists of list.h share: which statement, behind which row, how many.
 *
 * A list gives, for each of its sort keys, the same selection in four readings: up and down, the
 * first page and the next ones. Their parameters are the list's filters, then (next pages) the
 * cursor's value twice and its id, then the limit. The two columns behind the list's own are what
 * the cursor of the next page is made of: the sort value and the id that makes it unique.
 *
 * For common/store only.
 *
 * Errors   those of db.h; TG_CLASS_INVALID "invalid_cursor", "invalid_sort".
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PAGING_H
#define TOLLGATE_STORE_PAGING_H

#include "common/store/columns.h"
#include "common/store/list.h"

enum tg_sort_kind { TG_SORT_NUMBER, TG_SORT_TEXT, TG_SORT_BYTES };

struct tg_sort {
    const char *key;
    enum tg_sort_kind value, id;
    const char *first[2], *next[2]; /* [0] upwards, [1] downwards */
};
/* SELECT ends behind its WHERE conditions; VALUE and ID are columns. The lone comparison with VALUE
 * is what an index can begin with. */
#define TG_SORT(KEY, VALUE_KIND, ID_KIND, SELECT, VALUE, ID) \
    { \
        KEY, VALUE_KIND, ID_KIND, \
            {SELECT TG_SORT_END(VALUE, ID, ""), SELECT TG_SORT_END(VALUE, ID, " DESC")}, \
        { \
            SELECT TG_SORT_BEHIND(VALUE, ID, ">") TG_SORT_END(VALUE, ID, ""), \
            SELECT TG_SORT_BEHIND(VALUE, ID, "<") TG_SORT_END(VALUE, ID, " DESC") \
        } \
    }
#define TG_SORT_BEHIND(VALUE, ID, THAN) \
    " AND " VALUE " " THAN "= ? AND (" VALUE " " THAN " ? OR " ID " " THAN " ?)"
#define TG_SORT_END(VALUE, ID, DIRECTION) \
    " ORDER BY " VALUE DIRECTION ", " ID DIRECTION " LIMIT ?"

enum { TG_LIST_FILTERS_MOST = 24 };

struct tg_list {
    const struct tg_column *columns;
    size_t column_count;
    const struct tg_sort *sorts;
    size_t sort_count;
    const char *usual; /* the default sort: "-id" */
    int most;          /* rows of a page; 0: TG_PAGE_MOST */
};
struct tg_list_query {
    const struct tg_list *list;
    const struct tg_db_value *filters;
    size_t filter_count;
    const struct tg_page *page;
};
struct tg_list_visit {
    void (*row)(void *context, const struct tg_db_rows *rows); /* called for each */
    void *context;
    char next[TG_CURSOR_TEXT]; /* out: the cursor of the next page, "" at the end */
};
enum tg_class tg_list_each(struct tg_db *db, const struct tg_list_query *query,
                           struct tg_list_visit *visit, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* "rows" and "next", into an object that is open. */
enum tg_class tg_list_write(struct tg_db *db, const struct tg_list_query *query,
                            struct tg_json_writer *out, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);
/* For LIKE: "%text%" with its own wildcards escaped by '!'; "%" for a NULL or empty <text>.
 * Borrowed from <buf>, which the caller frees. */
struct tg_db_value tg_list_like(struct tg_buf *buf, const char *text) non_null(1);
/* NULL for "" as well: COALESCE(?, column) then compares a column with itself. */
struct tg_db_value tg_list_text(const char *text);
struct tg_db_value tg_list_id(int64_t id); /* NULL for 0 */

#endif
