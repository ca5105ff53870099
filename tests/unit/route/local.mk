check_PROGRAMS += unit-route-select
unit_route_select_SOURCES = tests/unit/route/select.c
unit_route_select_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_route_select_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
TESTS += unit-route-select
