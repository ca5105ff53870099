libcommon_a_SOURCES += \
	common/fcgi/fcgi.h
