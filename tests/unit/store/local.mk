UNIT_SCHEMA = $(UNIT_MARIADB) tests/unit/lib/schema.c tests/unit/lib/schema.h

check_PROGRAMS += unit-split unit-migrate
unit_split_SOURCES = tests/unit/store/split.c
unit_split_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_split_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_migrate_SOURCES = tests/unit/store/migrate.c $(UNIT_SCHEMA)
unit_migrate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_migrate_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-split unit-migrate

UNIT_HOUSE = tests/unit/store/house.c tests/unit/store/house.h

check_PROGRAMS += unit-store unit-console-rows
unit_store_SOURCES = tests/unit/store/store.c $(UNIT_HOUSE) \
	tests/unit/store/accounts.c tests/unit/store/routes.c tests/unit/store/watch.c \
	$(UNIT_SCHEMA)
unit_store_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_store_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-store

unit_console_rows_SOURCES = tests/unit/store/console.c tests/unit/store/console.h $(UNIT_HOUSE) \
	tests/unit/store/sessions.c tests/unit/store/changes.c tests/unit/store/lists.c \
	tests/unit/store/requests.c $(UNIT_SCHEMA)
unit_console_rows_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_console_rows_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-console-rows
