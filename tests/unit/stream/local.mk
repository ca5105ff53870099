check_PROGRAMS += unit-sse
TESTS += unit-sse
unit_sse_SOURCES = tests/unit/stream/sse.c
unit_sse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_sse_LDADD = libgateway.a $(BASE_LIBS) $(CMOCKA_LIBS)
