# Unit tests mirror the tree; each folder lists its own programs:
#   check_PROGRAMS += unit-NAME
#   unit_NAME_SOURCES = tests/unit/AREA/NAME.c
#   unit_NAME_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
#   unit_NAME_LDADD = $(COMMON_LIBS) $(CMOCKA_LIBS)
#   TESTS += unit-NAME
AM_TESTS_ENVIRONMENT = TOLLGATE_SOURCE='$(abs_top_srcdir)'; export TOLLGATE_SOURCE;
AM_LOG_FLAGS =
dist_check_SCRIPTS =

if HAVE_CMOCKA
include tests/unit/base/local.mk
include tests/unit/json/local.mk
include tests/unit/conf/local.mk
include tests/unit/crypto/local.mk
include tests/unit/sql/local.mk
include tests/unit/redis/local.mk
include tests/unit/http/local.mk
include tests/unit/fcgi/local.mk
include tests/unit/price/local.mk
include tests/unit/store/local.mk
include tests/unit/ledger/local.mk
include tests/unit/pool/local.mk
include tests/unit/access/local.mk
include tests/unit/body/local.mk
include tests/unit/route/local.mk
include tests/unit/relay/local.mk
include tests/unit/stream/local.mk
include tests/unit/upstream/local.mk
include tests/unit/provider/local.mk
include tests/unit/convert/local.mk
include tests/unit/count/local.mk
include tests/unit/daemon/local.mk
include tests/unit/ctl/local.mk
include tests/unit/web/local.mk
endif

# Token ids of what it reads: tests/tokens and tests/bench compare them with tiktoken's.
check_PROGRAMS += count-tokens
count_tokens_SOURCES = tests/unit/count/tokens.c
count_tokens_LDADD = $(COUNT_LIBS)
check_PROGRAMS += count-prompts
count_prompts_SOURCES = tests/unit/count/prompts.c
count_prompts_LDADD = $(COUNT_LIBS)

# Bills of what it reads, by the dialect that it is in.
check_PROGRAMS += price-recorded
price_recorded_SOURCES = tests/unit/price/recorded.c
price_recorded_LDADD = libgateway.a libconvert.a $(COMMON_LIBS)

include tests/histories/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk
include tests/style/local.mk

# What tests/run needs; these folders have no counterpart in a build tree.
EXTRA_DIST += tests/run tests/conftest.py tests/pytest.ini tests/requirements.txt \
	tests/simulator tests/lib tests/integration tests/fault tests/servers tests/clients tests/agents \
	tests/tokens tests/convert tests/installed tests/hostile tests/console tests/endurance \
	tests/schedule
