# Console programs do not link libcurl (36 shared libraries, 5 ms of start); the gateway does.
libcommon_a_SOURCES += \
	common/http/http.h \
	common/http/http_curl.h \
	common/http/answer.c common/http/answer.h \
	common/http/address.c common/http/address.h \
	common/http/url.c common/http/url.h \
	common/http/http_share.c \
	common/http/http_pool.c \
	common/http/http_options.c \
	common/http/http_events.c \
	common/http/http.c
