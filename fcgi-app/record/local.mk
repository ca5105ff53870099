libgateway_a_SOURCES += \
	fcgi-app/record/record.c fcgi-app/record/record.h
