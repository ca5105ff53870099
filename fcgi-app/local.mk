include fcgi-app/count/local.mk
include fcgi-app/convert/local.mk

# libgateway holds the pipeline, so that unit tests can link it; the order is a request's.
noinst_LIBRARIES += libgateway.a
libgateway_a_CFLAGS = $(AM_CFLAGS)
libgateway_a_SOURCES = \
	fcgi-app/stream/sse.c fcgi-app/stream/sse.h
GATEWAY_LIBS = libgateway.a libconvert.a libcount.a libcommon.a $(FCGI_LIBS) $(CURL_LIBS) $(COMMON_LIBS)

sbin_PROGRAMS += fcgi-app/tollgate-fcgi
fcgi_app_tollgate_fcgi_SOURCES = fcgi-app/main.c
fcgi_app_tollgate_fcgi_LDADD = $(GATEWAY_LIBS)
