libcommon_a_SOURCES += \
	common/conf/options.c common/conf/options.h \
	common/conf/options.def \
	common/conf/units.c common/conf/units.h \
	common/conf/value.c common/conf/value.h \
	common/conf/guard.c common/conf/guard.h \
	common/conf/file.c common/conf/file.h \
	common/conf/conf.c common/conf/conf.h \
	common/conf/password.c \
	common/conf/sample.c common/conf/sample.h
libcommon_a_SOURCES += common/conf/node.h common/conf/node.c
