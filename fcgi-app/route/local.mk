libgateway_a_SOURCES += \
	fcgi-app/route/snapshot.c fcgi-app/route/snapshot.h \
	fcgi-app/route/snapshot_build.c fcgi-app/route/snapshot_build.h \
	fcgi-app/route/lookup.c \
	fcgi-app/estimate.c fcgi-app/estimate.h \
	fcgi-app/route/select.c fcgi-app/route/select.h \
	fcgi-app/route/breaker.c fcgi-app/route/breaker.h \
	fcgi-app/route/key_pick.c fcgi-app/route/key_pick.h \
	fcgi-app/route/opener.c fcgi-app/route/opener.h \
	fcgi-app/route/key_board.c fcgi-app/route/key_board.h \
	fcgi-app/route/key_keeper.c fcgi-app/route/key_keeper.h
