sbin_PROGRAMS += fcgi-app/tollgate-ledger
fcgi_app_tollgate_ledger_SOURCES = \
	fcgi-app/daemon/main.c \
	fcgi-app/daemon/daemon.h fcgi-app/daemon/daemon.c \
	fcgi-app/daemon/settings.h fcgi-app/daemon/settings.c \
	fcgi-app/daemon/once.h fcgi-app/daemon/once.c \
	fcgi-app/daemon/shards.c \
	fcgi-app/daemon/advice.h fcgi-app/daemon/advice.c \
	fcgi-app/daemon/records.c \
	fcgi-app/daemon/replay.c \
	fcgi-app/daemon/jobs.c
fcgi_app_tollgate_ledger_LDADD = $(COMMON_LIBS)
dist_man_MANS += fcgi-app/tollgate-ledger.8
