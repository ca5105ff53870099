libgateway_a_SOURCES += \
	fcgi-app/relay/classify.c fcgi-app/relay/classify.h \
	fcgi-app/relay/retry.c fcgi-app/relay/retry.h
