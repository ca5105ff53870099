# Reused by the tests of the ledger and the daemon.
UNIT_REDIS = tests/unit/lib/redis.c tests/unit/lib/redis.h \
	tests/unit/lib/server.c tests/unit/lib/server.h

check_PROGRAMS += unit-kv
unit_kv_SOURCES = tests/unit/redis/kv.c $(UNIT_REDIS)
unit_kv_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_kv_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-kv
