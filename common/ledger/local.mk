libcommon_a_SOURCES += \
	common/ledger/entry.h \
	common/ledger/ledger.h \
	common/ledger/shard.h \
	common/ledger/spool.h
