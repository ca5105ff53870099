HTTP_TEST_HELPERS = tests/unit/http/server.c tests/unit/http/server.h \
	tests/unit/http/exchange.c tests/unit/http/exchange.h
HTTP_TEST_LIBS = libcommon.a $(CURL_LIBS) $(COMMON_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += unit-http-address unit-http-request unit-http-failure
unit_http_address_SOURCES = tests/unit/http/address.c
unit_http_address_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_http_address_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
unit_http_request_SOURCES = tests/unit/http/request.c $(HTTP_TEST_HELPERS)
unit_http_request_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_http_request_LDADD = $(HTTP_TEST_LIBS)
unit_http_failure_SOURCES = tests/unit/http/failure.c $(HTTP_TEST_HELPERS)
unit_http_failure_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_http_failure_LDADD = $(HTTP_TEST_LIBS)
TESTS += unit-http-address unit-http-request unit-http-failure

check_PROGRAMS += unit-http-rebind
unit_http_rebind_SOURCES = tests/unit/http/rebind.c $(HTTP_TEST_HELPERS)
unit_http_rebind_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_http_rebind_LDADD = $(HTTP_TEST_LIBS)
TESTS += unit-http-rebind
