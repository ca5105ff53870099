GATEWAY_TEST_LIBS = $(GATEWAY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += unit-relay-retry unit-relay-classify
unit_relay_retry_SOURCES = tests/unit/relay/retry.c
unit_relay_retry_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_relay_retry_LDADD = $(GATEWAY_TEST_LIBS)
unit_relay_classify_SOURCES = tests/unit/relay/classify.c
unit_relay_classify_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_relay_classify_LDADD = $(GATEWAY_TEST_LIBS)
TESTS += unit-relay-retry unit-relay-classify
check_PROGRAMS += unit-relay-attempt
unit_relay_attempt_SOURCES = tests/unit/relay/attempt.c \
	tests/unit/relay/stage.c tests/unit/relay/stage.h \
	tests/unit/stream/client_fake.c tests/unit/stream/client_fake.h \
	tests/unit/http/server.c tests/unit/http/server.h
unit_relay_attempt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_relay_attempt_LDADD = $(GATEWAY_TEST_LIBS)
TESTS += unit-relay-attempt
check_PROGRAMS += unit-relay-key-verdict
unit_relay_key_verdict_SOURCES = tests/unit/relay/key_verdict.c
unit_relay_key_verdict_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_relay_key_verdict_LDADD = $(GATEWAY_TEST_LIBS)
TESTS += unit-relay-key-verdict
check_PROGRAMS += unit-relay-verdict
unit_relay_verdict_SOURCES = tests/unit/relay/verdict.c
unit_relay_verdict_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_relay_verdict_LDADD = $(GATEWAY_TEST_LIBS)
TESTS += unit-relay-verdict
