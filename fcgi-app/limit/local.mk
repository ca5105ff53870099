libgateway_a_SOURCES += \
	fcgi-app/limit/rate.c \
	fcgi-app/limit/quota.c
