# libgateway holds the pipeline, so that unit tests can link it; the order is a request's.
noinst_LIBRARIES += libgateway.a
libgateway_a_CFLAGS = $(AM_CFLAGS)
libgateway_a_SOURCES = \
	fcgi-app/request.h fcgi-app/stage.c fcgi-app/stage.h fcgi-app/plan.h fcgi-app/stages.h \
	fcgi-app/worker.h fcgi-app/shared.h \
	fcgi-app/process.h \
	fcgi-app/listen.c fcgi-app/listen.h \
	fcgi-app/master.c \
	fcgi-app/settings.c fcgi-app/settings.h \
	fcgi-app/reload.c fcgi-app/reload.h \
	fcgi-app/shared.c \
	fcgi-app/vocabulary.c fcgi-app/vocabulary.h \
	fcgi-app/worker.c \
	fcgi-app/pipeline.c fcgi-app/pipeline.h
GATEWAY_LIBS = libgateway.a libconvert.a libcount.a libregex.a libcommon.a $(FCGI_LIBS) \
	$(CURL_LIBS) $(PCRE2_LIBS) $(COMMON_LIBS)

include fcgi-app/pool/local.mk
libgateway_a_SOURCES += \
	fcgi-app/endpoint.c fcgi-app/endpoint.h
include fcgi-app/access/local.mk
include fcgi-app/limit/local.mk
libgateway_a_SOURCES += \
	fcgi-app/body_store.c fcgi-app/body_store.h \
	fcgi-app/body_gemini.c fcgi-app/body_gemini.h \
	fcgi-app/body.c
include fcgi-app/session/local.mk
libgateway_a_SOURCES += \
	fcgi-app/screen.c
libgateway_a_SOURCES += \
	fcgi-app/route/rules.c
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

# What the gateway says by itself.
libgateway_a_SOURCES += \
	fcgi-app/reply.c fcgi-app/reply.h \
	fcgi-app/reply_error.c fcgi-app/reply_error.h \
	fcgi-app/answers.h \
	fcgi-app/models.c \
	fcgi-app/health.c \
	fcgi-app/metrics.c \
	fcgi-app/internal.c fcgi-app/internal_sign.c fcgi-app/internal.h

sbin_PROGRAMS += fcgi-app/tollgate-fcgi
fcgi_app_tollgate_fcgi_SOURCES = fcgi-app/main.c
fcgi_app_tollgate_fcgi_LDADD = $(GATEWAY_LIBS)
dist_man_MANS += fcgi-app/tollgate-fcgi.8
