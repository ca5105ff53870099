UNIT_DAEMON_BOOKS = tests/unit/daemon/books.c tests/unit/daemon/books.h $(UNIT_MARIADB)

check_PROGRAMS += unit-journal unit-records
unit_journal_SOURCES = tests/unit/daemon/journal.c $(UNIT_DAEMON_BOOKS)
unit_journal_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_journal_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_records_SOURCES = tests/unit/daemon/records.c $(UNIT_DAEMON_BOOKS)
unit_records_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_records_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-journal unit-records
