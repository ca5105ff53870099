libgateway_a_SOURCES += \
	fcgi-app/relay/attempt.c fcgi-app/relay/relay.h \
	fcgi-app/relay/choose.c \
	fcgi-app/relay/loss.c \
	fcgi-app/relay/classify.c fcgi-app/relay/classify.h \
	fcgi-app/relay/key_verdict.c fcgi-app/relay/key_verdict.h \
	fcgi-app/relay/key_words.c \
	fcgi-app/relay/keys.c fcgi-app/relay/keys.h \
	fcgi-app/relay/wait.c fcgi-app/relay/wait.h \
	fcgi-app/relay/retry.c fcgi-app/relay/retry.h \
	fcgi-app/relay/events.c \
	fcgi-app/relay/health.c \
	fcgi-app/relay/verdict.c fcgi-app/relay/verdict.h \
	fcgi-app/relay/effects.c fcgi-app/relay/effects.h \
	fcgi-app/relay/outcome.c \
	fcgi-app/relay/ask.c fcgi-app/relay/ask.h \
	fcgi-app/relay/count.c \
	fcgi-app/relay/test.c fcgi-app/relay/test.h \
	fcgi-app/relay/balance.c fcgi-app/relay/balance.h \
	fcgi-app/relay/breaker_note.c fcgi-app/relay/breaker_note.h \
	fcgi-app/relay/watch.c fcgi-app/relay/watch.h
