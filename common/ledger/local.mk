libcommon_a_SOURCES += \
	common/ledger/entry.c common/ledger/entry.h \
	common/ledger/spool.c common/ledger/spool.h common/ledger/spool_line.h \
	common/ledger/spool_read.c \
	common/ledger/scripts.h \
	common/ledger/step.c common/ledger/step.h \
	common/ledger/run.c common/ledger/run.h \
	common/ledger/mode.c common/ledger/mode.h \
	common/ledger/offline.c common/ledger/offline.h \
	common/ledger/ledger.c common/ledger/ledger.h \
	common/ledger/shard.c common/ledger/shard.h

# The scripts in Lua become one C file in the build tree.
ledger_lua_names = load reserve extend settle reset lapse trim begin finish look audit
ledger_lua = \
	common/ledger/lua/embed \
	common/ledger/lua/prologue.lua \
	common/ledger/lua/fence.lua \
	common/ledger/lua/hold.lua \
	common/ledger/lua/load.lua \
	common/ledger/lua/reserve.lua \
	common/ledger/lua/extend.lua \
	common/ledger/lua/settle.lua \
	common/ledger/lua/reset.lua \
	common/ledger/lua/lapse.lua \
	common/ledger/lua/trim.lua \
	common/ledger/lua/begin.lua \
	common/ledger/lua/finish.lua \
	common/ledger/lua/look.lua \
	common/ledger/lua/audit.lua
nodist_libcommon_a_SOURCES = common/ledger/scripts.c
EXTRA_DIST += $(ledger_lua)
CLEANFILES += common/ledger/scripts.c

common/ledger/scripts.c: $(ledger_lua)
	$(AM_V_GEN)$(MKDIR_P) common/ledger && \
	$(SHELL) $(srcdir)/common/ledger/lua/embed $(srcdir)/common/ledger/lua $(ledger_lua_names) \
		>$@.tmp && mv $@.tmp $@

# The daemon's work on a shard.
libcommon_a_SOURCES += \
	common/ledger/apply.h common/ledger/apply.c \
	common/ledger/rebuild.h common/ledger/rebuild.c \
	common/ledger/fold.h common/ledger/fold.c \
	common/ledger/replay.h common/ledger/replay.c \
	common/ledger/spool_watch.h common/ledger/spool_watch.c \
	common/ledger/sweep.h common/ledger/sweep.c \
	common/ledger/period.h common/ledger/period.c \
	common/ledger/resets.h common/ledger/resets.c \
	common/ledger/moment.h common/ledger/moment.c \
	common/ledger/audit.h common/ledger/audit.c
