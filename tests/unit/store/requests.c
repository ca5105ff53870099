/* The request log and the sums of usage, in a log database. */
#include "tests/unit/store/console.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/json/json.h"
#include "common/store/list_requests.h"
#include "common/store/usage_sum.h"

struct log {
    struct tg_db_pool *pool;
    struct tg_db *db;
};

static void open_log(struct house *house, struct log *log)
{
    log->pool = test_schema(house->server, "log", "log", 1);
    test_mariadb_sql(house->server, "log", "DELETE FROM request_log; DELETE FROM usage_hourly");
    log->db = test_take(log->pool);
}

static void close_log(struct log *log)
{
    tg_db_release(log->db);
    tg_db_pool_free(log->pool);
}

/* Row <n> lies <n> seconds before now; its id ends with <n>. */
static const char rows_sql[] =
    "INSERT INTO request_log (request_id, created_at, user_id, token_id, token_name, channel_id, "
    "served_model, status, error_code, was_fallback, quota) VALUES "
    "(UNHEX('00000000000070008000000000000001'), NOW(6) - INTERVAL 1 SECOND, 1, 10, '=cmd', 5, "
    "'a', 200, '', 0, 500000), "
    "(UNHEX('00000000000070008000000000000002'), NOW(6) - INTERVAL 2 SECOND, 1, 11, 'x,\"y', 6, "
    "'b', 429, 'rate', 0, 0), "
    "(UNHEX('00000000000070008000000000000003'), NOW(6) - INTERVAL 3 SECOND, 2, 12, '', 5, "
    "'a', 200, 'cut', 1, 7), "
    "(UNHEX('00000000000070008000000000000004'), NOW(6) - INTERVAL 4 SECOND, 2, 12, '', 6, "
    "'b', 502, '', 1, 0), "
    "(UNHEX('00000000000070008000000000000005'), NOW(6) - INTERVAL 2 DAY, 1, 10, '', 5, "
    "'a', 200, '', 0, 9)";

/* "123": the last digits of the ids on a page. */
static const char *digits(struct house *house, struct log *log,
                          const struct tg_request_filter *filter, struct tg_page *page)
{
    struct tg_json_writer out;
    struct tg_json *root;
    const struct tg_json *rows;
    const char *all = "";
    struct tg_span text;
    struct tg_buf buf;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    assert_int_equal(tg_list_requests(log->db, filter, page, &out, &house->err), TG_OK);
    tg_json_end_object(&out);
    assert_int_equal(tg_json_parse(tg_buf_text(&buf), buf.len, &root, NULL), TG_OK);
    assert_int_equal(tg_json_get_array(root, "rows", &rows), TG_JSON_GOT);
    for (size_t i = 0; i < tg_json_array_len(rows); i++) {
        assert_int_equal(tg_json_get_string(tg_json_array_at(rows, i), "request_id", &text),
                         TG_JSON_GOT);
        all = tg_arena_printf(house->arena, "%s%c", all, text.ptr[text.len - 1]);
    }
    page->after = tg_json_get_string(root, "next", &text) == TG_JSON_GOT
                      ? tg_arena_strdup(house->arena, text.ptr)
                      : NULL;
    tg_json_free(root);
    tg_buf_done(&buf);
    return all;
}

void requests_are_filtered_by_each_member(void **state)
{
    struct house *house = *state;
    const int64_t now_us = tg_unix_us(), hour_us = INT64_C(3600) * 1000000;
    struct tg_id id;
    const struct {
        struct tg_request_filter filter;
        const char *digits;
    } cases[] = {
        {{.user_id = 0}, "12345"},
        {{.user_id = 1}, "125"},
        {{.token_id = 12}, "34"},
        {{.channel_id = 5}, "135"},
        {{.model = "b"}, "24"},
        {{.model = "B"}, ""},
        {{.status = 200}, "135"},
        {{.status = 502}, "4"},
        {{.errors_only = true}, "234"},
        {{.fallback_only = true}, "34"},
        {{.fallback_only = true, .errors_only = true, .status = 502, .user_id = 2}, "4"},
        {{.errors_only = true, .token_id = 11}, "2"},
        {{.user_id = 1, .model = "a", .channel_id = 5, .token_id = 10}, "15"},
        {{.from_unix_us = now_us - hour_us}, "1234"},
        {{.to_unix_us = now_us - hour_us}, "5"},
        {{.from_unix_us = now_us - hour_us, .user_id = 1}, "12"},
        {{.request_id = &id, .from_unix_us = 1}, ""}, /* its time is long ago */
    };
    struct log log;

    assert_true(tg_id_parse("00000000-0000-7000-8000-000000000003", &id));
    open_log(house, &log);
    test_mariadb_sql(house->server, "log", rows_sql);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_page page = {.limit = 10};

        assert_string_equal(digits(house, &log, &cases[i].filter, &page), cases[i].digits);
        assert_null(page.after);
    }
    test_mariadb_sql(house->server, "log",
                     "UPDATE request_log SET created_at = '1970-01-01 00:00:01' WHERE "
                     "HEX(request_id) LIKE '%3'");
    assert_string_equal(digits(house, &log, &cases[TG_COUNT_OF(cases) - 1].filter,
                               &(struct tg_page){.limit = 1}),
                        "3");
    close_log(&log);
}

void requests_are_paged_without_gaps(void **state)
{
    static const struct tg_request_filter filters[] = {
        {.user_id = 0}, {.user_id = 1}, {.errors_only = true}, {.fallback_only = true}};
    static const char *const digits_of[] = {"12345", "125", "234", "34"};
    struct house *house = *state;
    struct log log;

    open_log(house, &log);
    test_mariadb_sql(house->server, "log", rows_sql);
    /* the same moment: the id decides */
    test_mariadb_sql(house->server, "log",
                     "UPDATE request_log SET created_at = '2026-11-30 10:00:00'");
    for (size_t i = 0; i < TG_COUNT_OF(filters); i++) {
        struct tg_page page = {.limit = 1};
        char got[8] = "";
        size_t len = 0;

        do {
            const char *one = digits(house, &log, &filters[i], &page);

            assert_int_equal(strlen(one), 1);
            got[len++] = one[0];
            got[len] = '\0';
        } while (page.after != NULL && len < sizeof got - 1);
        assert_int_equal(len, strlen(digits_of[i]));
        for (size_t at = 0; at < len; at++) /* downwards */
            assert_int_equal(got[at], digits_of[i][len - 1 - at]);
    }
    close_log(&log);
}

void a_page_looks_at_a_bounded_number_of_rows(void **state)
{
    struct house *house = *state;
    const struct tg_request_filter rare = {.user_id = 1, .model = "rare"}, all = {.user_id = 1};
    struct tg_page page = {.limit = 10};
    struct log log;

    open_log(house, &log);
    /* two of the very same time in the place where the first page gives up */
    test_mariadb_sql(house->server, "log",
                     "INSERT INTO request_log (request_id, created_at, user_id, served_model) "
                     "SELECT UNHEX(LPAD(HEX(seq), 32, '0')), '2026-11-30' - INTERVAL "
                     "IF(seq = 1001, 1000, seq) SECOND, 1, IF(seq IN (1000, 1001, 1250), 'rare', "
                     "'usual') FROM seq_1_to_1250");
    assert_string_equal(digits(house, &log, &rare, &page), "98"); /* 0x3e9, 0x3e8 */
    assert_non_null(page.after);
    assert_string_equal(digits(house, &log, &rare, &page), "2"); /* 0x4e2 */
    assert_null(page.after);
    page = (struct tg_page){.limit = 2, .sort = "-created_at"};
    assert_string_equal(digits(house, &log, &all, &page), "12");
    assert_non_null(page.after);
    page = (struct tg_page){.limit = 1}; /* a full page goes on behind its last row */
    assert_string_equal(digits(house, &log, &rare, &page), "9");
    assert_string_equal(digits(house, &log, &rare, &page), "8");
    assert_string_equal(digits(house, &log, &rare, &page), "2");
    assert_null(page.after);
    close_log(&log);
}

void requests_are_told_as_csv(void **state)
{
    struct house *house = *state;
    const struct tg_request_filter filter = {.user_id = 1};
    struct tg_page page = {.limit = 2};
    struct tg_csv csv;
    struct tg_buf text;
    struct log log;
    size_t lines = 0;

    open_log(house, &log);
    test_mariadb_sql(house->server, "log", rows_sql);
    tg_buf_init(&text, 0);
    csv.out = &text;
    assert_int_equal(tg_csv_requests(log.db, &filter, &page, &csv, &house->err), TG_OK);
    assert_string_not_equal(csv.next, "");
    page.after = tg_arena_strdup(house->arena, csv.next);
    assert_int_equal(tg_csv_requests(log.db, &filter, &page, &csv, &house->err), TG_OK);
    assert_string_equal(csv.next, "");
    for (const char *at = tg_buf_text(&text); (at = strstr(at, "\r\n")) != NULL; at += 2)
        lines++;
    assert_int_equal(lines, 4); /* one header */
    assert_int_equal(strncmp(tg_buf_text(&text), "request_id,created_at,user_id,", 30), 0);
    assert_non_null(strstr(tg_buf_text(&text), ",\"'=cmd\","));
    assert_non_null(strstr(tg_buf_text(&text), ",\"x,\"\"y\","));
    tg_buf_done(&text);
    close_log(&log);
}

static const char usage_sql[] =
    "INSERT INTO usage_hourly (hour, user_id, token_id, team, served_model, channel_id, requests, "
    "errors, fallbacks, input, cache_read, output, quota, total_us, first_token_us, total_100ms, "
    "total_1s, total_longer) VALUES "
    "('2026-11-29 10:00:00', 1, 10, '', 'a', 5, 10, 1, 2, 100, 50, 30, 1000, 5000000, 100, 5, 5, 0)"
    ", "
    "('2026-11-29 11:00:00', 1, 10, '', 'b', 5, 2, 0, 0, 10, 0, 5, 100, 400, 100, 2, 0, 0), "
    "('2026-11-30 11:00:00', 2, 12, '', 'a', 6, 4, 4, 0, 0, 0, 0, 3000, 0, 0, 0, 0, 4)";

static int64_t moment(const char *text)
{
    int64_t unix_us;

    assert_true(tg_time_parse(text, &unix_us));
    return unix_us;
}

void usage_is_summed_for_all_and_for_one(void **state)
{
    struct house *house = *state;
    const int64_t from_us = moment("2026-11-29T00:00:00Z"), to_us = moment("2026-12-01T00:00:00Z");
    const struct {
        struct tg_usage_filter filter;
        int64_t requests, quota;
    } cases[] = {
        {{.from_unix_us = from_us, .to_unix_us = to_us}, 16, 4100},
        {{.from_unix_us = from_us, .to_unix_us = to_us, .user_id = 1}, 12, 1100},
        {{.from_unix_us = from_us, .to_unix_us = to_us, .user_id = 3}, 0, 0},
        {{.from_unix_us = from_us, .to_unix_us = to_us, .model = "b"}, 2, 100},
        {{.from_unix_us = from_us, .to_unix_us = to_us, .channel_id = 6, .user_id = 2}, 4, 3000},
        {{.from_unix_us = moment("2026-11-29T11:00:00Z"), .to_unix_us = to_us}, 6, 3100},
        {{.from_unix_us = from_us, .to_unix_us = moment("2026-11-30T11:00:00Z")}, 12, 1100},
    };
    struct tg_usage_sum sum;
    struct log log;

    open_log(house, &log);
    test_mariadb_sql(house->server, "log", usage_sql);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(tg_usage_total(log.db, &cases[i].filter, &sum, &house->err), TG_OK);
        assert_int_equal(sum.requests, cases[i].requests);
        assert_int_equal(sum.quota, cases[i].quota);
    }
    assert_int_equal(tg_usage_total(log.db, &cases[1].filter, &sum, &house->err), TG_OK);
    assert_int_equal(sum.errors, 1);
    assert_int_equal(sum.fallbacks, 2);
    assert_int_equal(sum.input, 160);
    assert_int_equal(sum.cache_read, 50);
    assert_int_equal(sum.output, 35);
    assert_int_equal(sum.mean_total_us, 5000400 / 12);
    close_log(&log);
}

void usage_is_split_into_parts(void **state)
{
    static const struct {
        struct tg_usage_wish wish;
        const char *rows; /* label/id/requests */
    } cases[] = {
        {{TG_USAGE_BY_MODEL, 10}, "a/0/14 b/0/2 "},
        {{TG_USAGE_BY_MODEL, 1}, "a/0/14 "},
        {{TG_USAGE_BY_USER, 10}, "bob/2/4 alice/1/12 "},
        {{TG_USAGE_BY_TOKEN, 10}, "/12/4 /10/12 "},
        {{TG_USAGE_BY_CHANNEL, 10}, "/6/4 /5/12 "},
        {{TG_USAGE_BY_HOUR, 10},
         "2026-11-29T10:00:00Z/0/10 2026-11-29T11:00:00Z/0/2 2026-11-30T11:00:00Z/0/4 "},
        {{TG_USAGE_BY_DAY, 0}, "2026-11-29T00:00:00Z/0/12 2026-11-30T00:00:00Z/0/4 "},
    };
    struct house *house = *state;
    const struct tg_usage_filter filter = {.from_unix_us = moment("2026-11-29T00:00:00Z"),
                                           .to_unix_us = moment("2026-12-01T00:00:00Z")};
    struct log log;

    open_log(house, &log);
    test_mariadb_sql(house->server, "log", usage_sql);
    test_mariadb_sql(house->server, "main",
                     "INSERT INTO users (id, username) VALUES (1, 'alice'), (2, 'bob')");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const char *got = "";
        struct tg_usage_list list;

        if (tg_usage_by(log.db, house->arena, &filter, &cases[i].wish, &list) != TG_OK)
            fail_msg("%s", tg_db_error(log.db)->message);
        assert_int_equal(tg_usage_names(house->db, house->arena, &list), TG_OK);
        for (size_t at = 0; at < list.count; at++)
            got = tg_arena_printf(house->arena, "%s%s/%d/%d ", got, list.rows[at].label,
                                  (int)list.rows[at].id, (int)list.rows[at].sum.requests);
        assert_string_equal(got, cases[i].rows);
    }
    close_log(&log);
}

void percentiles_come_from_the_buckets(void **state)
{
    struct house *house = *state;
    const struct {
        struct tg_usage_filter filter;
        int64_t p50_us, p95_us;
    } cases[] = {
        /* 5 up to 0.1 s, 5 from 0.3 s to 1 s: the last of the first five; all of the others */
        {{.from_unix_us = 1, .model = "a", .user_id = 1}, 100000, 1000000},
        {{.from_unix_us = 1, .model = "b"}, 50000, 100000},
        {{.from_unix_us = 1, .user_id = 2}, 100000000, 100000000}, /* all beyond the last end */
        {{.from_unix_us = 1, .user_id = 3}, 0, 0},
    };
    struct tg_usage_sum sum;
    struct log log;

    open_log(house, &log);
    test_mariadb_sql(house->server, "log", usage_sql);
    test_mariadb_sql(house->server, "log", "UPDATE usage_hourly SET hour = '2025-01-01'");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(tg_usage_total(log.db, &cases[i].filter, &sum, &house->err), TG_OK);
        assert_int_equal(sum.p50_us, cases[i].p50_us);
        assert_int_equal(sum.p95_us, cases[i].p95_us);
    }
    close_log(&log);
}
