# libgateway holds the pipeline, so that unit tests can link it; the order is a request's.
noinst_LIBRARIES += libgateway.a
libgateway_a_CFLAGS = $(AM_CFLAGS)
libgateway_a_SOURCES = \
	fcgi-app/request.h fcgi-app/stages.h fcgi-app/worker.h fcgi-app/shared.h \
	fcgi-app/endpoint.h fcgi-app/reply.h
GATEWAY_LIBS = libgateway.a libconvert.a libcount.a libcommon.a $(FCGI_LIBS) $(CURL_LIBS) \
	$(COMMON_LIBS)

include fcgi-app/pool/local.mk
include fcgi-app/access/local.mk
include fcgi-app/limit/local.mk
include fcgi-app/session/local.mk
include fcgi-app/route/local.mk
include fcgi-app/count/local.mk
include fcgi-app/ledger/local.mk
include fcgi-app/relay/local.mk
include fcgi-app/convert/local.mk
include fcgi-app/provider/local.mk
include fcgi-app/upstream/local.mk
include fcgi-app/stream/local.mk
include fcgi-app/record/local.mk
include fcgi-app/daemon/local.mk

sbin_PROGRAMS += fcgi-app/tollgate-fcgi
fcgi_app_tollgate_fcgi_SOURCES = fcgi-app/main.c
fcgi_app_tollgate_fcgi_LDADD = $(GATEWAY_LIBS)
