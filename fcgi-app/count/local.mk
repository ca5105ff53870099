# libcount links libbase and json-c only: unit-count proves it.
noinst_LIBRARIES += libcount.a
libcount_a_CFLAGS = $(AM_CFLAGS)
libcount_a_SOURCES = \
	fcgi-app/count/estimate.c fcgi-app/count/estimate.h \
	fcgi-app/count/letters.c fcgi-app/count/letters.h \
	fcgi-app/count/media.c fcgi-app/count/media.h \
	fcgi-app/count/estimate_chat.c
