UNIT_PLAY = tests/unit/ledger/play.c tests/unit/ledger/play.h $(UNIT_REDIS)

check_PROGRAMS += unit-ledger-scripts unit-ledger-settle unit-ledger-sums
unit_ledger_scripts_SOURCES = tests/unit/ledger/scripts.c $(UNIT_PLAY)
unit_ledger_scripts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ledger_scripts_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_ledger_settle_SOURCES = tests/unit/ledger/settle.c $(UNIT_PLAY)
unit_ledger_settle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ledger_settle_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_ledger_sums_SOURCES = tests/unit/ledger/sums.c $(UNIT_PLAY)
unit_ledger_sums_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ledger_sums_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-ledger-scripts unit-ledger-settle unit-ledger-sums

check_PROGRAMS += unit-entry unit-spool
unit_entry_SOURCES = tests/unit/ledger/entry.c
unit_entry_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_entry_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_spool_SOURCES = tests/unit/ledger/spool.c tests/unit/lib/server.c tests/unit/lib/server.h
unit_spool_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_spool_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-entry unit-spool

UNIT_LEDGER_BOOKS = tests/unit/ledger/books.c tests/unit/ledger/books.h $(UNIT_MARIADB) $(UNIT_REDIS)

check_PROGRAMS += unit-ledger unit-shard
unit_ledger_SOURCES = tests/unit/ledger/ledger.c $(UNIT_LEDGER_BOOKS)
unit_ledger_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ledger_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_shard_SOURCES = tests/unit/ledger/shard.c $(UNIT_LEDGER_BOOKS)
unit_shard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_shard_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-ledger unit-shard
