libgateway_a_SOURCES += \
	fcgi-app/provider/provider.c fcgi-app/provider/provider.h \
	fcgi-app/provider/body.c \
	fcgi-app/provider/openai.c \
	fcgi-app/provider/anthropic.c \
	fcgi-app/provider/gemini.c \
	fcgi-app/provider/balance.c fcgi-app/provider/balance.h
