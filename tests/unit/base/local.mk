check_PROGRAMS += unit-base
unit_base_SOURCES = tests/unit/base/base.c tests/unit/unit.h
unit_base_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_base_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)
TESTS += unit-base
