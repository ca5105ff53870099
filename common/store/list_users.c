/* Users and their tokens. */
#include "common/store/paging.h"

#define USERS \
    "SELECT id, username, role, status, group_name, team, quota, offline_quota, used_quota, " \
    "request_count, created_at, "
#define USERS_FROM \
    " FROM users WHERE username LIKE ? ESCAPE '!' AND role = COALESCE(?, role) AND " \
    "status = COALESCE(?, status) AND group_name = COALESCE(?, group_name) AND " \
    "team = COALESCE(?, team)"
static const struct tg_column user_columns[] = {
    {"id", TG_INT}, {"username", TG_TEXT}, {"role", TG_TEXT}, {"status", TG_TEXT},
    {"group_name", TG_TEXT}, {"team", TG_TEXT}, {"quota", TG_QUOTA}, {"offline_quota", TG_QUOTA},
    {"used_quota", TG_QUOTA}, {"request_count", TG_INT}, {"created_at", TG_TIME}};
static const struct tg_sort user_sorts[] = {
    TG_SORT("id", TG_SORT_NUMBER, TG_SORT_NUMBER, USERS "id, id" USERS_FROM, "id", "id"),
    TG_SORT("username", TG_SORT_TEXT, TG_SORT_NUMBER, USERS "username, id" USERS_FROM, "username",
            "id"),
    TG_SORT("quota", TG_SORT_NUMBER, TG_SORT_NUMBER, USERS "quota, id" USERS_FROM, "quota", "id"),
    TG_SORT("used_quota", TG_SORT_NUMBER, TG_SORT_NUMBER, USERS "used_quota, id" USERS_FROM,
            "used_quota", "id"),
};
static const struct tg_list users = {.columns = user_columns,
                                     .column_count = TG_COUNT_OF(user_columns),
                                     .sorts = user_sorts,
                                     .sort_count = TG_COUNT_OF(user_sorts),
                                     .usual = "-id"};

enum tg_class tg_list_users(struct tg_db *db, const struct tg_user_filter *filter,
                            const struct tg_page *page, struct tg_json_writer *out,
                            struct tg_error *err)
{
    struct tg_buf like;
    const struct tg_db_value filters[] = {
        tg_list_like(&like, filter->search), tg_list_text(filter->role),
        tg_list_text(filter->status), tg_list_text(filter->group_name),
        tg_list_text(filter->team)};
    const struct tg_list_query query = {&users, filters, TG_COUNT_OF(filters), page};
    enum tg_class class = tg_list_write(db, &query, out, err);

    tg_buf_done(&like);
    return class;
}

#define TOKENS \
    "SELECT t.id, t.user_id, (SELECT u.username FROM users u WHERE u.id = t.user_id), t.name, " \
    "t.team, t.hint, t.status, t.expires_at, t.remain_quota, t.offline_quota, t.unlimited, " \
    "t.used_quota, t.group_name, t.model_limits, t.allow_addresses, t.created_at, "
#define TOKENS_FROM(OWNER) \
    " FROM tokens t WHERE " OWNER " AND (t.name LIKE ? ESCAPE '!' OR t.hint = ?) AND " \
    "t.status = COALESCE(?, t.status) AND t.group_name = COALESCE(?, t.group_name) AND " \
    "t.team = COALESCE(?, t.team)"
#define TOKEN_SORTS(OWNER) \
    { \
        TG_SORT("id", TG_SORT_NUMBER, TG_SORT_NUMBER, TOKENS "t.id, t.id" TOKENS_FROM(OWNER), \
                "t.id", "t.id"), \
        TG_SORT("name", TG_SORT_TEXT, TG_SORT_NUMBER, TOKENS "t.name, t.id" TOKENS_FROM(OWNER), \
                "t.name", "t.id"), \
        TG_SORT("remain_quota", TG_SORT_NUMBER, TG_SORT_NUMBER, \
                TOKENS "t.remain_quota, t.id" TOKENS_FROM(OWNER), "t.remain_quota", "t.id"), \
        TG_SORT("used_quota", TG_SORT_NUMBER, TG_SORT_NUMBER, \
                TOKENS "t.used_quota, t.id" TOKENS_FROM(OWNER), "t.used_quota", "t.id") \
    }
static const struct tg_column token_columns[] = {
    {"id", TG_INT}, {"user_id", TG_INT}, {"username", TG_TEXT}, {"name", TG_TEXT},
    {"team", TG_TEXT}, {"hint", TG_TEXT}, {"status", TG_TEXT}, {"expires_at", TG_TIME},
    {"remain_quota", TG_QUOTA}, {"offline_quota", TG_QUOTA}, {"unlimited", TG_FLAG},
    {"used_quota", TG_QUOTA}, {"group_name", TG_TEXT}, {"model_limits", TG_JSON},
    {"allow_addresses", TG_JSON}, {"created_at", TG_TIME}};
static const struct tg_sort token_sorts[] = TOKEN_SORTS("? IS NULL");
static const struct tg_sort own_sorts[] = TOKEN_SORTS("t.user_id = ?");
static const struct tg_list tokens = {.columns = token_columns,
                                      .column_count = TG_COUNT_OF(token_columns),
                                      .sorts = token_sorts,
                                      .sort_count = TG_COUNT_OF(token_sorts),
                                      .usual = "-id"};
static const struct tg_list own_tokens = {.columns = token_columns,
                                          .column_count = TG_COUNT_OF(token_columns),
                                          .sorts = own_sorts,
                                          .sort_count = TG_COUNT_OF(own_sorts),
                                          .usual = "-id"};

enum tg_class tg_list_tokens(struct tg_db *db, const struct tg_token_filter *filter,
                             const struct tg_page *page, struct tg_json_writer *out,
                             struct tg_error *err)
{
    struct tg_buf like;
    const struct tg_db_value filters[] = {
        tg_list_id(filter->user_id),       tg_list_like(&like, filter->search),
        TG_DB_S(filter->search),           tg_list_text(filter->status),
        tg_list_text(filter->group_name), tg_list_text(filter->team)};
    const struct tg_list_query query = {filter->user_id != 0 ? &own_tokens : &tokens, filters,
                                        TG_COUNT_OF(filters), page};
    enum tg_class class = tg_list_write(db, &query, out, err);

    tg_buf_done(&like);
    return class;
}
