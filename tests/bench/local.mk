# The stub that measurements call as their provider; tests/bench/run starts it.
check_PROGRAMS += bench-upstream
bench_upstream_SOURCES = tests/bench/upstream.c

# Clients of thousands of streams at once; tests/bench/streams.py starts it.
check_PROGRAMS += bench-streams
bench_streams_SOURCES = tests/bench/streams.c

# A request and an event through the converters; prints its figures.
check_PROGRAMS += bench-convert
bench_convert_SOURCES = tests/bench/convert.c tests/unit/convert/sample.h
bench_convert_LDADD = libconvert.a $(BASE_LIBS)

# Deposit and bill against two PINGs; prints its figure.
check_PROGRAMS += bench-ledger
bench_ledger_SOURCES = tests/bench/ledger.c \
	tests/unit/lib/redis.c tests/unit/lib/redis.h \
	tests/unit/lib/server.c tests/unit/lib/server.h \
	tests/unit/lib/mariadb.c tests/unit/lib/mariadb.h
bench_ledger_LDADD = $(COMMON_LIBS)

# The journal into MySQL, the rebuild and the audit of many accounts.
check_PROGRAMS += bench-books
bench_books_SOURCES = tests/bench/books.c \
	tests/unit/lib/redis.c tests/unit/lib/redis.h \
	tests/unit/lib/schema.c tests/unit/lib/schema.h \
	tests/unit/lib/server.c tests/unit/lib/server.h \
	tests/unit/lib/mariadb.c tests/unit/lib/mariadb.h
bench_books_LDADD = $(COMMON_LIBS)

EXTRA_DIST += tests/bench/run tests/bench/bench.py tests/bench/cpu.py tests/bench/bpe.py \
	tests/bench/streams.py tests/bench/nginx.conf

# Pages of a request log of a million rows; prints its figure.
check_PROGRAMS += bench-log-page
bench_log_page_SOURCES = tests/bench/log_page.c \
	tests/unit/lib/schema.c tests/unit/lib/schema.h \
	tests/unit/lib/server.c tests/unit/lib/server.h \
	tests/unit/lib/mariadb.c tests/unit/lib/mariadb.h
bench_log_page_LDADD = $(COMMON_LIBS)

# The choice of a channel among many; prints its figure.
check_PROGRAMS += bench-select
bench_select_SOURCES = tests/bench/select.c \
	tests/bench/select_world.c tests/bench/select_world.h
bench_select_LDADD = $(GATEWAY_LIBS)
