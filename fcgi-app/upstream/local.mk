libgateway_a_SOURCES += \
	fcgi-app/upstream/passed.c fcgi-app/upstream/passed.h \
	fcgi-app/upstream/transfer.c fcgi-app/upstream/transfer.h
