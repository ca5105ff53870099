# libbase links libc and json-c only: convert/ and count/ may use nothing else.
noinst_LIBRARIES += libbase.a
libbase_a_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
libbase_a_SOURCES = \
	common/base/base.h \
	common/base/memory.c common/base/memory.h \
	common/base/stack.c common/base/stack.h \
	common/base/error.c common/base/error.h \
	common/base/arena.c common/base/arena.h \
	common/base/buf.c common/base/buf.h \
	common/base/clock.c common/base/clock.h \
	common/base/zone.c common/base/zone.h \
	common/base/zone_rule.c common/base/zone_rule.h \
	common/base/id.c common/base/id.h \
	common/base/money.c common/base/money.h \
	common/base/pattern.c common/base/pattern.h \
	common/base/stop.c common/base/stop.h \
	common/base/log.c common/base/log.h

# libcommon holds the wrappers of all other libraries, the stores and the ledger.
noinst_LIBRARIES += libcommon.a
libcommon_a_CFLAGS = $(AM_CFLAGS) $(CURL_CFLAGS) $(HIREDIS_CFLAGS) $(CONFIG_CFLAGS) \
	$(SODIUM_CFLAGS) $(GMP_CFLAGS) $(MYSQL_CFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS) \
	$(JWT_CFLAGS)
libcommon_a_SOURCES =
BASE_LIBS = libbase.a $(JSON_LIBS)
COMMON_LIBS = libcommon.a $(BASE_LIBS) $(HIREDIS_LIBS) $(CONFIG_LIBS) $(SODIUM_LIBS) \
	$(GMP_LIBS) $(MYSQL_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
# Console programs do not link libcurl (36 shared libraries, 5 ms of start); the gateway does.
