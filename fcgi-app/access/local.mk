libgateway_a_SOURCES += \
	fcgi-app/access/carrier.c fcgi-app/access/carrier.h \
	fcgi-app/access/access.c fcgi-app/access/access.h
