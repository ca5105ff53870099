check_PROGRAMS += unit-sse
TESTS += unit-sse
unit_sse_SOURCES = tests/unit/stream/sse.c
unit_sse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_sse_LDADD = libgateway.a $(BASE_LIBS) $(CMOCKA_LIBS)
STREAM_SCENE = tests/unit/stream/scene.c tests/unit/stream/scene.h \
	tests/unit/stream/client_fake.c tests/unit/stream/client_fake.h
check_PROGRAMS += unit-stream-engine unit-stream-client unit-stream-messages
TESTS += unit-stream-engine unit-stream-client unit-stream-messages
unit_stream_engine_SOURCES = tests/unit/stream/engine.c $(STREAM_SCENE)
unit_stream_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_stream_engine_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
unit_stream_client_SOURCES = tests/unit/stream/client.c $(STREAM_SCENE)
unit_stream_client_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_stream_client_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
unit_stream_messages_SOURCES = tests/unit/stream/messages.c \
	tests/unit/convert/sample.h $(STREAM_SCENE)
unit_stream_messages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_stream_messages_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
