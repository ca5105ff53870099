libcommon_a_SOURCES += \
	common/compress/zstd.h \
	common/compress/zstd.c
