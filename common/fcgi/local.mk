libcommon_a_SOURCES += \
	common/fcgi/fcgi.c common/fcgi/fcgi.h
