/* What goes in comes out. */
#include "tests/unit/sql/cases.h"

#include <stdlib.h>

#include "common/base/memory.h"

void integers_and_null_round_trip(void **state)
{
    static const int64_t numbers[] = {0, 1, -1, INT64_MAX, INT64_MIN, 9000000000000000};
    struct tg_db *db = take(*state);
    struct tg_db_rows *rows;

    for (size_t i = 0; i < TG_COUNT_OF(numbers); i++) {
        const struct tg_db_value values[] = {TG_DB_I(numbers[i]), TG_DB_N, TG_DB_S(NULL)};

        assert_int_equal(tg_db_run(db, "REPLACE INTO t (id, n, tiny, text) VALUES (1, ?, ?, ?)",
                                   values, 3, NULL),
                         TG_OK);
        assert_int_equal(tg_db_select(db, "SELECT n, tiny, text FROM t WHERE id = 1", NULL, 0,
                                      &rows),
                         TG_OK);
        assert_true(tg_db_next(rows));
        assert_true(tg_db_int(rows, 0) == numbers[i]);
        assert_true(tg_db_is_null(rows, 1));
        assert_int_equal(tg_db_int(rows, 1), 0);
        assert_null(tg_db_text(rows, 2));
        assert_null(tg_db_bytes(rows, 2).ptr);
        assert_false(tg_db_next(rows));
        tg_db_rows_free(rows);
    }
    tg_db_release(db);
}

/* Lengths around the size of the first fetch, and far above it. */
void long_texts_and_blobs_round_trip(void **state)
{
    static const size_t lengths[] = {0, 1, 127, 128, 129, 4096, 70000, 3000000};
    struct tg_db *db = take(*state);

    for (size_t i = 0; i < TG_COUNT_OF(lengths); i++) {
        size_t len = lengths[i];
        char *bytes = tg_malloc(len + 1), *text = tg_malloc(len + 1);
        struct tg_db_rows *rows;

        for (size_t k = 0; k < len; k++) {
            bytes[k] = (char)(k * 7 + i);
            text[k] = (char)('a' + k % 26);
        }
        text[len] = '\0';
        const struct tg_db_value values[] = {TG_DB_B(bytes, len), TG_DB_S(text)};

        assert_int_equal(tg_db_run(db, "REPLACE INTO t (id, blob_, text) VALUES (2, ?, ?)",
                                   values, 2, NULL),
                         TG_OK);
        assert_int_equal(tg_db_select(db, "SELECT blob_, text, 5 FROM t WHERE id = 2", NULL, 0,
                                      &rows),
                         TG_OK);
        assert_true(tg_db_next(rows));
        assert_int_equal(tg_db_bytes(rows, 0).len, len);
        assert_memory_equal(tg_db_bytes(rows, 0).ptr, bytes, len);
        assert_string_equal(tg_db_text(rows, 1), text);
        assert_int_equal(tg_db_int(rows, 2), 5);
        tg_db_rows_free(rows);
        free(bytes);
        free(text);
    }
    tg_db_release(db);
}

void decimals_and_times_come_as_exact_texts(void **state)
{
    struct tg_db *db = take(*state);
    const struct tg_db_value values[] = {TG_DB_S("-0.0000000001"),
                                         TG_DB_S("2026-11-30 16:05:00.123456"),
                                         TG_DB_S("Grüße, 世界 🙂")};
    struct tg_db_rows *rows;

    assert_int_equal(tg_db_run(db, "REPLACE INTO t (id, price, at, text) VALUES (3, ?, ?, ?)",
                               values, 3, NULL),
                     TG_OK);
    assert_int_equal(tg_db_select(db,
                                  "SELECT price, at, text, CAST(at AS DATE) FROM t WHERE id = 3",
                                  NULL, 0, &rows),
                     TG_OK);
    assert_true(tg_db_next(rows));
    assert_string_equal(tg_db_text(rows, 0), "-0.0000000001");
    assert_string_equal(tg_db_text(rows, 1), "2026-11-30 16:05:00.123456");
    assert_string_equal(tg_db_text(rows, 2), "Grüße, 世界 🙂");
    assert_string_equal(tg_db_text(rows, 3), "2026-11-30");
    tg_db_rows_free(rows);
    tg_db_release(db);
}

void sums_are_integers(void **state)
{
    struct tg_db *db = take(*state);
    struct tg_db_rows *rows;

    assert_int_equal(tg_db_run(db, "DELETE FROM t", NULL, 0, NULL), TG_OK);
    assert_int_equal(tg_db_run(db,
                               "INSERT INTO t (id, n) VALUES (1, 9000000000000000), "
                               "(2, 9000000000000000), (3, -1)",
                               NULL, 0, NULL),
                     TG_OK);
    assert_int_equal(tg_db_done(db).affected, 3);
    assert_int_equal(tg_db_select(db, "SELECT SUM(n), COUNT(*), MAX(n) > 0 FROM t", NULL, 0,
                                  &rows),
                     TG_OK);
    assert_true(tg_db_next(rows));
    assert_true(tg_db_int(rows, 0) == INT64_C(17999999999999999));
    assert_int_equal(tg_db_int(rows, 1), 3);
    assert_int_equal(tg_db_int(rows, 2), 1);
    tg_db_rows_free(rows);
    tg_db_release(db);
}

void an_unsigned_number_beyond_63_bits_is_an_error(void **state)
{
    struct tg_db *db = take(*state);
    struct tg_db_rows *rows;

    assert_int_equal(tg_db_run(db, "REPLACE INTO t (id, u) VALUES (9, 18446744073709551615)", NULL,
                               0, NULL),
                     TG_OK);
    assert_int_equal(tg_db_select(db, "SELECT u FROM t WHERE id = 9", NULL, 0, &rows),
                     TG_CLASS_INTERNAL);
    assert_string_equal(tg_db_error(db)->code, "db_error");
    /* and the connection is still of use */
    assert_int_equal(tg_db_select(db, "SELECT 4", NULL, 0, &rows), TG_OK);
    tg_db_rows_free(rows);
    tg_db_release(db);
}

void many_rows_come_in_order(void **state)
{
    static const char *const sql =
        "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ?) "
        "SELECT i, REPEAT('x', i % 300) FROM s ORDER BY i";
    struct tg_db *db = take(*state);
    struct tg_db_rows *rows;
    int64_t count = 0;

    assert_int_equal(tg_db_select(db, sql, &TG_DB_I(900), 1, &rows), TG_OK);
    while (tg_db_next(rows)) {
        assert_int_equal(tg_db_int(rows, 0), ++count);
        assert_int_equal(tg_db_bytes(rows, 1).len, count % 300);
        assert_int_equal(strlen(tg_db_text(rows, 1)), count % 300);
    }
    assert_int_equal(count, 900);
    tg_db_rows_free(rows);
    tg_db_release(db);
}
