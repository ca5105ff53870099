# libconvert links libbase only: unit-convert proves it.
noinst_LIBRARIES += libconvert.a
libconvert_a_CFLAGS = $(AM_CFLAGS)
libconvert_a_SOURCES = \
	fcgi-app/convert/value.c fcgi-app/convert/value.h \
	fcgi-app/convert/splice.c fcgi-app/convert/splice.h \
	fcgi-app/convert/usage_figures.c fcgi-app/convert/usage_figures.h \
	fcgi-app/convert/chat_usage.c fcgi-app/convert/chat_usage.h \
	fcgi-app/convert/chat_event.c fcgi-app/convert/chat_event.h \
	fcgi-app/convert/error_body.c fcgi-app/convert/error_body.h \
	fcgi-app/convert/mask.c fcgi-app/convert/mask.h
