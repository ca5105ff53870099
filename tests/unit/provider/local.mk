check_PROGRAMS += unit-provider
unit_provider_SOURCES = tests/unit/provider/openai.c
unit_provider_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_provider_LDADD = $(GATEWAY_LIBS) $(CMOCKA_LIBS)
TESTS += unit-provider
