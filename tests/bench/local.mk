# The stub that measurements call as their provider; tests/bench/run starts it.
check_PROGRAMS += bench-upstream
bench_upstream_SOURCES = tests/bench/upstream.c
