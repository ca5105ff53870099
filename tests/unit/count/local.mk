# No library but libbase, json-c and PCRE2: what libcount needs from elsewhere fails these links.
check_PROGRAMS += unit-count unit-count-bpe unit-count-media unit-count-prompt
TESTS += unit-count unit-count-bpe unit-count-media unit-count-prompt
unit_count_SOURCES = tests/unit/count/estimate.c
unit_count_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_count_LDADD = $(COUNT_LIBS) $(CMOCKA_LIBS)
unit_count_bpe_SOURCES = tests/unit/count/bpe.c tests/unit/count/ranks.c tests/unit/count/ranks.h
unit_count_bpe_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_count_bpe_LDADD = $(COUNT_LIBS) $(CMOCKA_LIBS)
unit_count_media_SOURCES = tests/unit/count/media.c
unit_count_media_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_count_media_LDADD = $(COUNT_LIBS) $(CMOCKA_LIBS)
unit_count_prompt_SOURCES = tests/unit/count/prompt.c tests/unit/count/ranks.c \
	tests/unit/count/ranks.h
unit_count_prompt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_count_prompt_LDADD = $(COUNT_LIBS) $(CMOCKA_LIBS)
