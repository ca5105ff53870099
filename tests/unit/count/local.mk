# No library but libbase's and PCRE2: what libcount needs from elsewhere fails this link.
check_PROGRAMS += unit-count
TESTS += unit-count
unit_count_SOURCES = tests/unit/count/estimate.c
unit_count_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_count_LDADD = $(COUNT_LIBS) $(CMOCKA_LIBS)
