# Part of libbase: pure, libc and json-c only.
libbase_a_SOURCES += \
	common/json/scan.h \
	common/json/json.h \
	common/json/writer.h
