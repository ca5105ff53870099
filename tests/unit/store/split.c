/* An SQL file, statement by statement. */
#include "tests/unit/unit.h"

#include "common/store/split.h"

static void statements_are_taken_apart(void **state)
{
    static const struct {
        const char *text;
        const char *statements[4];
    } cases[] = {
        {"", {NULL}},
        {" \n -- nothing; here\n # nor; here\n /* nor; here */ ;; ", {NULL}},
        {"SELECT 1", {"SELECT 1"}},
        {"SELECT 1;", {"SELECT 1"}},
        {"SELECT 1 ; SELECT 2\n;", {"SELECT 1", "SELECT 2"}},
        {"SELECT ';'; SELECT \";\"; SELECT `;`;", {"SELECT ';'", "SELECT \";\"", "SELECT `;`"}},
        {"SELECT 'it''s;'; SELECT 'a\\';b'", {"SELECT 'it''s;'", "SELECT 'a\\';b'"}},
        {"SELECT `a\\`; SELECT 2", {"SELECT `a\\`", "SELECT 2"}},
        {"SELECT 1 -- one; two\n, 2; SELECT 3 # x;\n", {"SELECT 1 -- one; two\n, 2", "SELECT 3"}},
        {"SELECT 5--1; SELECT 2", {"SELECT 5--1", "SELECT 2"}},
        {"SELECT 1 /* ; ' */ + 1; SELECT 2", {"SELECT 1 /* ; ' */ + 1", "SELECT 2"}},
        {"/*!50100 SELECT 1 */; SELECT 2", {"/*!50100 SELECT 1 */", "SELECT 2"}},
        {"SELECT 'open", {"SELECT 'open"}},
        {"/* open ; SELECT 1", {NULL}},
        {"-- end", {NULL}},
        {"--\nSELECT 1", {"SELECT 1"}},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const char *rest = cases[i].text;
        struct tg_span got;

        for (size_t k = 0; cases[i].statements[k] != NULL; k++) {
            assert_true(tg_sql_next(&rest, &got));
            assert_int_equal(got.len, strlen(cases[i].statements[k]));
            assert_memory_equal(got.ptr, cases[i].statements[k], got.len);
        }
        assert_false(tg_sql_next(&rest, &got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements_are_taken_apart)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
