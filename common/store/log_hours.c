#include "common/store/log_hours.h"

#include "common/base/buf.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row is for; what it counts; what it sums under the log's own names; in which of the
 * buckets of total_us (most of each) a request is counted. */
enum { USER, TOKEN, CHANNEL, TEAM, MODEL, KEYS };
static const char *const keys[KEYS] = {"user_id", "token_id", "channel_id", "team",
                                       "served_model"};
enum { REQUESTS, ERRORS, FALLBACKS, COUNTS };
static const char *const counts[COUNTS] = {"requests", "errors", "fallbacks"};
static const char *const sums[] = {
    "input",    "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning",    "image",
    "audio_in", "audio_out",  "tool_calls",     "quota",          "total_us", "first_token_us"};
static const struct {
    const char *name;
    int64_t most_us;
} buckets[] = {{"total_100ms", 100000},   {"total_300ms", 300000},  {"total_1s", 1000000},
               {"total_3s", 3000000},     {"total_10s", 10000000},  {"total_30s", 30000000},
               {"total_100s", 100000000}, {"total_longer", INT64_MAX}};
enum {
    SUMS = TG_COUNT_OF(sums),
    BUCKETS = TG_COUNT_OF(buckets),
    NUMBERS = COUNTS + SUMS + BUCKETS,
    HOUR_DIGITS = sizeof "2026-01-01 00" - 1,
    PARAMETERS = 1 + KEYS + NUMBERS
};

/* Made once, constant then. */
static struct {
    int keys[KEYS], sums[SUMS]; /* places in a record */
    int total_us, status, error_code, was_fallback;
    char *insert;
} made;

static int column_of(const char *name)
{
    int i = 0;

    while (strcmp(tg_log_column(i), name) != 0)
        i++;
    return i;
}

static const char *number_name(int i)
{
    if (i < COUNTS)
        return counts[i];
    return i < COUNTS + SUMS ? sums[i - COUNTS] : buckets[i - COUNTS - SUMS].name;
}

static void make(void)
{
    struct tg_buf sql;

    for (int i = 0; i < KEYS; i++)
        made.keys[i] = column_of(keys[i]);
    for (int i = 0; i < SUMS; i++)
        made.sums[i] = column_of(sums[i]);
    made.total_us = column_of("total_us");
    made.status = column_of("status");
    made.error_code = column_of("error_code");
    made.was_fallback = column_of("was_fallback");
    tg_buf_init(&sql, 0);
    tg_buf_str(&sql, "INSERT INTO usage_hourly (hour");
    for (int i = 0; i < KEYS; i++)
        tg_buf_printf(&sql, ", %s", keys[i]);
    for (int i = 0; i < NUMBERS; i++)
        tg_buf_printf(&sql, ", %s", number_name(i));
    tg_buf_str(&sql, ") VALUES (?");
    for (int i = 1; i < PARAMETERS; i++)
        tg_buf_str(&sql, ",?");
    for (int i = 0; i < NUMBERS; i++)
        tg_buf_printf(&sql, "%s %s = usage_hourly.%s + VALUES(%s)",
                      i == 0 ? ") ON DUPLICATE KEY UPDATE" : ",", number_name(i), number_name(i),
                      number_name(i));
    made.insert = sql.data;
}

/* ---- groups */

static int compare_texts(const struct tg_db_value *a, const struct tg_db_value *b)
{
    int order = memcmp(a->ptr, b->ptr, TG_MIN(a->len, b->len));

    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int by_key(const void *a, const void *b)
{
    const struct tg_log_record *x = *(const struct tg_log_record *const *)a;
    const struct tg_log_record *y = *(const struct tg_log_record *const *)b;
    int order = memcmp(x->created_at, y->created_at, HOUR_DIGITS);

    for (int i = 0; order == 0 && i < KEYS; i++) {
        const struct tg_db_value *left = &x->log[made.keys[i]], *right = &y->log[made.keys[i]];

        order = i < TEAM ? (left->number > right->number) - (left->number < right->number)
                         : compare_texts(left, right);
    }
    return order;
}

static void add_record(const struct tg_log_record *record, int64_t numbers[NUMBERS])
{
    int64_t total_us = record->log[made.total_us].number;
    int bucket = 0;

    numbers[REQUESTS]++;
    numbers[ERRORS] +=
        record->log[made.error_code].len > 0 || record->log[made.status].number >= 400;
    numbers[FALLBACKS] += record->log[made.was_fallback].number;
    for (int i = 0; i < SUMS; i++)
        numbers[COUNTS + i] += record->log[made.sums[i]].number;
    while (total_us > buckets[bucket].most_us)
        bucket++;
    numbers[COUNTS + SUMS + bucket]++;
}

static enum tg_class add_row(struct tg_db *log_db, const struct tg_log_record *of,
                             const int64_t numbers[NUMBERS], struct tg_error *err)
{
    struct tg_db_value values[PARAMETERS];
    char hour[24];

    snprintf(hour, sizeof hour, "%.*s:00:00", HOUR_DIGITS, of->created_at);
    values[0] = tg_db_string(hour);
    for (int i = 0; i < KEYS; i++)
        values[1 + i] = of->log[made.keys[i]];
    for (int i = 0; i < NUMBERS; i++)
        values[1 + KEYS + i] = TG_DB_I(numbers[i]);
    return tg_db_run(log_db, made.insert, values, PARAMETERS, err);
}

/* In the order of the keys, so that two writers cannot wait for each other. */
enum tg_class tg_log_hours_add(struct tg_db *log_db, const struct tg_log_record *records,
                               size_t count, struct tg_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct tg_log_record **list = tg_calloc(count + 1, sizeof(void *));
    enum tg_class class = TG_OK;

    pthread_once(&once, make);
    for (size_t i = 0; i < count; i++)
        list[i] = &records[i];
    qsort(list, count, sizeof(void *), by_key);
    for (size_t i = 0; class == TG_OK && i < count;) {
        const struct tg_log_record *first = list[i];
        int64_t numbers[NUMBERS] = {0};

        for (; i < count && by_key(&list[i], &first) == 0; i++)
            add_record(list[i], numbers);
        class = add_row(log_db, first, numbers, err);
    }
    free(list);
    return class;
}
