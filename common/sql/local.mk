libcommon_a_SOURCES += \
	common/sql/db.h \
	common/sql/dsn.c common/sql/dsn.h \
	common/sql/rows.c common/sql/rows.h \
	common/sql/connection.h \
	common/sql/link.c common/sql/link.h \
	common/sql/db.c \
	common/sql/db_pool.c
