# Behind the transfer: SSE in, SSE out.
libgateway_a_SOURCES += \
	fcgi-app/stream/sse.c fcgi-app/stream/sse.h
