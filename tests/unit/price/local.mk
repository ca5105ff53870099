check_PROGRAMS += unit-rational unit-usage unit-price unit-price-random unit-price-expression unit-price-json unit-price-reports
TESTS += unit-rational unit-usage unit-price unit-price-random unit-price-expression unit-price-json unit-price-reports

unit_rational_SOURCES = tests/unit/price/rational.c
unit_rational_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_rational_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)

unit_usage_SOURCES = tests/unit/price/usage.c
unit_usage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_usage_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

unit_price_SOURCES = tests/unit/price/price.c
unit_price_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_price_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)

unit_price_random_SOURCES = tests/unit/price/random.c
unit_price_random_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_price_random_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)

unit_price_expression_SOURCES = tests/unit/price/expression.c
unit_price_expression_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_price_expression_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)

unit_price_json_SOURCES = tests/unit/price/json.c
unit_price_json_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_price_json_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)

unit_price_reports_SOURCES = tests/unit/price/reports.c
unit_price_reports_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_price_reports_LDADD = libconvert.a $(COMMON_LIBS) $(CMOCKA_LIBS)
