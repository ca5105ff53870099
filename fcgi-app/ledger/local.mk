libgateway_a_SOURCES += \
	fcgi-app/ledger/idempotent.c \
	fcgi-app/ledger/reserve.c \
	fcgi-app/ledger/hold.c \
	fcgi-app/ledger/raise.c \
	fcgi-app/ledger/settle.c
