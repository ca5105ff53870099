# Reused by the tests of the stores, the ledger and the daemon.
UNIT_MARIADB = tests/unit/lib/mariadb.c tests/unit/lib/mariadb.h

check_PROGRAMS += unit-dsn unit-db
unit_dsn_SOURCES = tests/unit/sql/dsn.c
unit_dsn_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_dsn_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_db_SOURCES = tests/unit/sql/db.c tests/unit/sql/values.c tests/unit/sql/cases.h \
	$(UNIT_MARIADB)
unit_db_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_db_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-dsn unit-db
