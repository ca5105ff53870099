check_PROGRAMS += unit-route-select unit-route-snapshot
unit_route_select_SOURCES = tests/unit/route/select.c
unit_route_select_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_route_select_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
unit_route_snapshot_SOURCES = tests/unit/route/snapshot.c
unit_route_snapshot_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_route_snapshot_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
TESTS += unit-route-select unit-route-snapshot
