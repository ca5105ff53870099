libcommon_a_SOURCES += \
	common/fcgi/fcgi.c common/fcgi/fcgi.h \
	common/fcgi/client.c common/fcgi/client.h \
	common/fcgi/records.c common/fcgi/records.h \
	common/fcgi/input.c common/fcgi/input.h \
	common/fcgi/memory_file.c common/fcgi/memory_file.h
