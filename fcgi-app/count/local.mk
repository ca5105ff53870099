# libcount links libbase, json-c and PCRE2 only: unit-count proves it.
noinst_LIBRARIES += libcount.a
libcount_a_CFLAGS = $(AM_CFLAGS)
libcount_a_SOURCES = \
	fcgi-app/count/vocabulary.c fcgi-app/count/vocabulary.h \
	fcgi-app/count/split.c fcgi-app/count/split.h \
	fcgi-app/count/merge.c fcgi-app/count/merge.h \
	fcgi-app/count/bpe.c fcgi-app/count/bpe.h \
	fcgi-app/count/estimate.c fcgi-app/count/estimate.h \
	fcgi-app/count/letters.c fcgi-app/count/letters.h \
	fcgi-app/count/encoders.c fcgi-app/count/encoders.h \
	fcgi-app/count/count.c fcgi-app/count/count.h \
	fcgi-app/count/image.c fcgi-app/count/image.h \
	fcgi-app/count/media.c fcgi-app/count/media.h \
	fcgi-app/count/prompt.c fcgi-app/count/prompt.h \
	fcgi-app/count/prompt_parts.c \
	fcgi-app/count/prompt_chat.c \
	fcgi-app/count/prompt_responses.c \
	fcgi-app/count/prompt_messages.c \
	fcgi-app/count/prompt_gemini.c
COUNT_LIBS = libcount.a libregex.a $(BASE_LIBS) $(PCRE2_LIBS)

# The ranks of OpenAI's encodings: VOCABULARY says where from, make-vocabulary makes them.
nobase_dist_pkgdata_DATA += fcgi-app/count/cl100k_base.ranks fcgi-app/count/o200k_base.ranks \
	fcgi-app/count/VOCABULARY
EXTRA_DIST += fcgi-app/count/make-vocabulary
