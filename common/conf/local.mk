libcommon_a_SOURCES += \
	common/conf/conf.h \
	common/conf/options.def \
	common/conf/options.h \
	common/conf/units.h
