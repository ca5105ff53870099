UNIT_DAEMON_BOOKS = tests/unit/daemon/books.c tests/unit/daemon/books.h $(UNIT_MARIADB)

check_PROGRAMS += unit-journal unit-records unit-house
unit_journal_SOURCES = tests/unit/daemon/journal.c $(UNIT_DAEMON_BOOKS)
unit_journal_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_journal_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_records_SOURCES = tests/unit/daemon/records.c $(UNIT_DAEMON_BOOKS)
unit_records_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_records_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_house_SOURCES = tests/unit/daemon/house.c $(UNIT_DAEMON_BOOKS)
unit_house_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_house_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-journal unit-records unit-house

UNIT_SITE = tests/unit/daemon/site.c tests/unit/daemon/site.h $(UNIT_DAEMON_BOOKS) $(UNIT_REDIS)

check_PROGRAMS += unit-rebuild unit-replay unit-audit
unit_rebuild_SOURCES = tests/unit/daemon/rebuild.c $(UNIT_SITE)
unit_rebuild_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_rebuild_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_replay_SOURCES = tests/unit/daemon/replay.c $(UNIT_SITE)
unit_replay_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_replay_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_audit_SOURCES = tests/unit/daemon/audit.c $(UNIT_SITE)
unit_audit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_audit_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-rebuild unit-replay unit-audit

check_PROGRAMS += unit-faults
unit_faults_SOURCES = tests/unit/daemon/faults.c $(UNIT_SITE)
unit_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_faults_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-faults

check_PROGRAMS += unit-mutations
unit_mutations_SOURCES = tests/unit/daemon/mutations.c $(UNIT_SITE)
unit_mutations_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_mutations_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-mutations

check_PROGRAMS += unit-periods
unit_periods_SOURCES = tests/unit/daemon/periods.c $(UNIT_SITE)
unit_periods_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_periods_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-periods
