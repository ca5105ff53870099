libgateway_a_SOURCES += \
	fcgi-app/pool/pool.c fcgi-app/pool/pool.h \
	fcgi-app/pool/intake.c fcgi-app/pool/intake.h
