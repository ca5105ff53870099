libcommon_a_SOURCES += \
	common/credential/cache.h
