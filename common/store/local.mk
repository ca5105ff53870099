libcommon_a_SOURCES += \
	common/store/credential.h \
	common/store/routing.h \
	common/store/balance.h
