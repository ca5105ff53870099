libgateway_a_SOURCES += \
	fcgi-app/upstream/transfer.c fcgi-app/upstream/transfer.h
