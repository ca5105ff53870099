libcommon_a_SOURCES += \
	common/compress/inflate.c common/compress/inflate.h \
	common/compress/zstd.h \
	common/compress/zstd.c
