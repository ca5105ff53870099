check_PROGRAMS += unit-sse
TESTS += unit-sse
unit_sse_SOURCES = tests/unit/stream/sse.c
unit_sse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_sse_LDADD = libgateway.a $(BASE_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += unit-stream-engine
TESTS += unit-stream-engine
unit_stream_engine_SOURCES = tests/unit/stream/engine.c \
	tests/unit/stream/client_fake.c tests/unit/stream/client_fake.h
unit_stream_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_stream_engine_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
