check_PROGRAMS += unit-fcgi-client
unit_fcgi_client_SOURCES = tests/unit/fcgi/client.c
unit_fcgi_client_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_fcgi_client_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-fcgi-client

UNIT_PEER = tests/unit/lib/peer.c tests/unit/lib/peer.h

check_PROGRAMS += unit-fcgi
unit_fcgi_SOURCES = tests/unit/fcgi/fcgi.c $(UNIT_PEER)
unit_fcgi_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_fcgi_LDADD = libcommon.a $(FCGI_LIBS) $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-fcgi

check_PROGRAMS += unit-fcgi-records
unit_fcgi_records_SOURCES = tests/unit/fcgi/records.c
unit_fcgi_records_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_fcgi_records_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
TESTS += unit-fcgi-records
