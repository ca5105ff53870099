/* cases - the parts of unit-db share one server. */
#ifndef TOLLGATE_TESTS_SQL_CASES_H
#define TOLLGATE_TESTS_SQL_CASES_H

#include "tests/unit/lib/mariadb.h"
#include "tests/unit/unit.h"

struct cases {
    struct test_mariadb *server;
    struct tg_db_pool *pool;
};

/* A connection of the pool, which has to be free. */
struct tg_db *take(struct cases *cases);

void integers_and_null_round_trip(void **state);
void long_texts_and_blobs_round_trip(void **state);
void decimals_and_times_come_as_exact_texts(void **state);
void sums_are_integers(void **state);
void an_unsigned_number_beyond_63_bits_is_an_error(void **state);
void many_rows_come_in_order(void **state);

#endif
