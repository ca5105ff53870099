libcommon_a_SOURCES += \
	common/credential/form.c common/credential/form.h \
	common/credential/scripts.h \
	common/credential/cache.c common/credential/cache.h \
	common/credential/apply.c common/credential/apply.h \
	common/credential/known.c common/credential/known.h

nodist_libcommon_a_SOURCES += common/credential/scripts.c
EXTRA_DIST += common/credential/lua/fill.lua
CLEANFILES += common/credential/scripts.c

common/credential/scripts.c: common/ledger/lua/embed common/credential/lua/fill.lua
	$(AM_V_GEN)$(MKDIR_P) common/credential && \
	$(SHELL) $(srcdir)/common/ledger/lua/embed $(srcdir)/common/credential/lua fill \
		>$@.tmp && mv $@.tmp $@
