libgateway_a_SOURCES += \
	fcgi-app/session/session.c \
	fcgi-app/session/remember.c
