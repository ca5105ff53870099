libcommon_a_SOURCES += \
	common/crypto/crypto.c common/crypto/crypto.h \
	common/crypto/secrets.c common/crypto/secrets.h common/crypto/secrets_write.c \
	common/crypto/jwt.c common/crypto/jwt.h
