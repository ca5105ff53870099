libgateway_a_SOURCES += \
	fcgi-app/route/snapshot.h \
	fcgi-app/route/select.c fcgi-app/route/select.h
