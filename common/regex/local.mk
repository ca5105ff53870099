# The wrapper of PCRE2 alone: count/ links it, and nothing else of common/ but libbase.
noinst_LIBRARIES += libregex.a
libregex_a_CFLAGS = $(AM_CFLAGS) $(PCRE2_CFLAGS)
libregex_a_SOURCES = common/regex/regex.c common/regex/regex.h
