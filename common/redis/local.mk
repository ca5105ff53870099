libcommon_a_SOURCES += \
	common/redis/kv.c common/redis/kv.h common/redis/kv_link.h \
	common/redis/kv_pool.c \
	common/redis/kv_listen.c
