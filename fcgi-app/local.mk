# libgateway holds the pipeline, so that unit tests can link it; the order is a request's.
noinst_LIBRARIES += libgateway.a
libgateway_a_CFLAGS = $(AM_CFLAGS)
libgateway_a_SOURCES =
GATEWAY_LIBS = libgateway.a libcommon.a $(FCGI_LIBS) $(CURL_LIBS) $(COMMON_LIBS)

sbin_PROGRAMS += fcgi-app/tollgate-fcgi
fcgi_app_tollgate_fcgi_SOURCES = fcgi-app/main.c
fcgi_app_tollgate_fcgi_LDADD = $(GATEWAY_LIBS)
