libcommon_a_SOURCES += \
	common/price/rational.h \
	common/price/usage.h \
	common/price/price.h
