# Programs of this folder.

check_PROGRAMS += unit-fcgi-client
unit_fcgi_client_SOURCES = tests/unit/fcgi/client.c
unit_fcgi_client_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_fcgi_client_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-fcgi-client
