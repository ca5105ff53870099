/* schema - databases with Tollgate's tables, on a private server. Failures end the program. */
#ifndef TOLLGATE_TESTS_LIB_SCHEMA_H
#define TOLLGATE_TESTS_LIB_SCHEMA_H

#include "tests/unit/lib/mariadb.h"

/* The migrations of <which> ("main" or "log") applied to <schema>. */
struct tg_db_pool *test_schema(struct test_mariadb *server, const char *which, const char *schema,
                               int connections);
/* The folder of the migrations, in the source tree. */
const char *test_schema_folder(const char *which);
struct tg_db *test_take(struct tg_db_pool *pool);
/* The one integer, or text, that a statement gives. The text is valid until the next call. */
int64_t test_number(struct tg_db *db, const char *sql);
const char *test_text(struct tg_db *db, const char *sql);

#endif
