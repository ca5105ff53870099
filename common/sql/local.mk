libcommon_a_SOURCES += \
	common/sql/db.h
