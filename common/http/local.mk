libcommon_a_SOURCES += \
	common/http/http.h \
	common/http/address.h
