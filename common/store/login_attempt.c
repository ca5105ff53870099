#include "common/store/login_attempt.h"

#include "common/base/clock.h"
#include "common/store/read.h"

enum { ACCOUNT_BYTES = 64, COUNT_MOST = 1000 };
static const int64_t day_us = INT64_C(86400) * 1000000;

static enum tg_class count_of(struct tg_db *db, const char *sql, const struct tg_db_value *values,
                              size_t count, int64_t *ret)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, values, count, &rows);

    if (class != TG_OK)
        return class;
    *ret = tg_db_next(rows) ? tg_db_int(rows, 0) : 0;
    tg_db_rows_free(rows);
    return TG_OK;
}

static enum tg_class last_of(struct tg_db *db, const struct tg_db_value *account, int64_t *ret)
{
    struct tg_db_rows *rows;
    enum tg_class class =
        tg_db_select(db, "SELECT MAX(at) FROM login_attempts WHERE account = ?", account, 1, &rows);

    if (class != TG_OK)
        return class;
    *ret = tg_db_next(rows) ? tg_store_time(rows, 0) : 0;
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_store_login_attempts(struct tg_db *db, const struct tg_login_attempt *attempt,
                                      int64_t window_us, struct tg_login_attempt_counts *ret,
                                      struct tg_error *err)
{
    char since[TG_TIME_TEXT], account[ACCOUNT_BYTES + 1];
    struct tg_login_attempt_counts got = {0};
    enum tg_class class;

    tg_time_format_sql(tg_unix_us() - window_us, since);
    tg_store_cut(attempt->account, account, sizeof account);
    const struct tg_db_value of_account[] = {TG_DB_S(account), TG_DB_S(since),
                                             TG_DB_I(COUNT_MOST)};
    const struct tg_db_value of_address[] = {TG_DB_S(attempt->address), TG_DB_S(since),
                                             TG_DB_I(COUNT_MOST)};
    const struct tg_db_value of_both[] = {TG_DB_S(account), TG_DB_S(attempt->address),
                                          TG_DB_S(since), TG_DB_I(COUNT_MOST)};

    class = count_of(db,
                     "SELECT COUNT(*) FROM (SELECT 1 FROM login_attempts WHERE account = ? AND "
                     "at > ? LIMIT ?) n",
                     of_account, 3, &got.of_account);
    if (class == TG_OK)
        class = count_of(db,
                         "SELECT COUNT(*) FROM (SELECT 1 FROM login_attempts WHERE address = ? AND "
                         "at > ? LIMIT ?) n",
                         of_address, 3, &got.of_address);
    if (class == TG_OK)
        class = count_of(db,
                         "SELECT COUNT(*) FROM (SELECT 1 FROM login_attempts WHERE account = ? AND "
                         "address = ? AND at > ? LIMIT ?) n",
                         of_both, 4, &got.of_both);
    if (class == TG_OK)
        class = last_of(db, of_account, &got.last_unix_us);
    if (class == TG_OK)
        *ret = got;
    return tg_store_failed(db, class, err);
}

enum tg_class tg_store_login_attempt_add(struct tg_db *db, const struct tg_login_attempt *attempt,
                                         struct tg_error *err)
{
    char now[TG_TIME_TEXT], old[TG_TIME_TEXT], account[ACCOUNT_BYTES + 1];
    enum tg_class class;

    tg_time_format_sql(tg_unix_us(), now);
    tg_time_format_sql(tg_unix_us() - day_us, old);
    tg_store_cut(attempt->account, account, sizeof account);
    class = tg_db_run(db, "DELETE FROM login_attempts WHERE at < ? LIMIT 100",
                      (struct tg_db_value[]){TG_DB_S(old)}, 1, err);
    if (class != TG_OK)
        return class;
    return tg_db_run(
        db, "INSERT INTO login_attempts (account, address, at) VALUES (?,?,?)",
        (struct tg_db_value[]){TG_DB_S(account), TG_DB_S(attempt->address), TG_DB_S(now)}, 3, err);
}

enum tg_class tg_store_login_attempt_clear(struct tg_db *db,
                                           const struct tg_login_attempt *attempt,
                                           struct tg_error *err)
{
    char account[ACCOUNT_BYTES + 1];

    tg_store_cut(attempt->account, account, sizeof account);
    return tg_db_run(db, "DELETE FROM login_attempts WHERE account = ? AND address = ?",
                     (struct tg_db_value[]){TG_DB_S(account), TG_DB_S(attempt->address)}, 2, err);
}
