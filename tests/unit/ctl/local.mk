check_PROGRAMS += unit-args
unit_args_SOURCES = tests/unit/ctl/args.c admin-cgi/ctl/args.c admin-cgi/ctl/args.h
unit_args_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_args_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)
TESTS += unit-args

dist_check_SCRIPTS += tests/unit/ctl/manual.sh tests/unit/ctl/offline.sh
TESTS += tests/unit/ctl/manual.sh tests/unit/ctl/offline.sh
