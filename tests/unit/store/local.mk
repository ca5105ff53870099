UNIT_SCHEMA = $(UNIT_MARIADB) tests/unit/lib/schema.c tests/unit/lib/schema.h

check_PROGRAMS += unit-split unit-migrate
unit_split_SOURCES = tests/unit/store/split.c
unit_split_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_split_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_migrate_SOURCES = tests/unit/store/migrate.c $(UNIT_SCHEMA)
unit_migrate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_migrate_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-split unit-migrate

check_PROGRAMS += unit-store
unit_store_SOURCES = tests/unit/store/store.c tests/unit/store/house.h \
	tests/unit/store/accounts.c tests/unit/store/routes.c $(UNIT_SCHEMA)
unit_store_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_store_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-store
