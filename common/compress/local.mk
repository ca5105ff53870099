libcommon_a_SOURCES += \
	common/compress/inflate.c common/compress/inflate.h \
	common/compress/unzstd.c common/compress/unzstd.h
