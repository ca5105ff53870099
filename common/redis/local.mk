libcommon_a_SOURCES += \
	common/redis/kv.h
