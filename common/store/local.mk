libcommon_a_SOURCES += \
	common/store/credential.h \
	common/store/routing.h \
	common/store/balance.h

# The daemon's side: the journal into the books, the records into the log database.
libcommon_a_SOURCES += \
	common/store/journal.h common/store/journal.c \
	common/store/movement.h common/store/movement.c \
	common/store/offline.h common/store/offline.c \
	common/store/log_batch.h common/store/log_batch.c \
	common/store/log_rows.h common/store/log_rows.c \
	common/store/pending.h common/store/pending.c \
	common/store/lease.h common/store/lease.c \
	common/store/node.h common/store/node.c
