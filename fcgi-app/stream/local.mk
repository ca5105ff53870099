libgateway_a_SOURCES += \
	fcgi-app/stream/sse.c fcgi-app/stream/sse.h \
	fcgi-app/stream/engine.c fcgi-app/stream/engine.h \
	fcgi-app/stream/chat.c fcgi-app/stream/chat.h \
	fcgi-app/stream/failure.c fcgi-app/stream/failure.h \
	fcgi-app/stream/dialect.c fcgi-app/stream/dialect.h \
	fcgi-app/stream/client.c fcgi-app/stream/client.h
