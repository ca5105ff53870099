libgateway_a_SOURCES += \
	fcgi-app/relay/retry.c fcgi-app/relay/retry.h
