libcommon_a_SOURCES += \
	common/crypto/crypto.h \
	common/crypto/secrets.h
