check_PROGRAMS += unit-ledger-scripts
unit_ledger_scripts_SOURCES = tests/unit/ledger/scripts.c \
	tests/unit/ledger/play.c tests/unit/ledger/play.h $(UNIT_REDIS)
unit_ledger_scripts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ledger_scripts_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-ledger-scripts
