libcommon_a_SOURCES += \
	common/key_room/scripts.h \
	common/key_room/key_room.c common/key_room/key_room.h

key_room_lua_names = key_take key_give
key_room_lua = \
	common/key_room/lua/key_take.lua \
	common/key_room/lua/key_give.lua
nodist_libcommon_a_SOURCES += common/key_room/scripts.c
EXTRA_DIST += $(key_room_lua)
CLEANFILES += common/key_room/scripts.c

common/key_room/scripts.c: common/ledger/lua/embed $(key_room_lua)
	$(AM_V_GEN)$(MKDIR_P) common/key_room && \
	$(SHELL) $(srcdir)/common/ledger/lua/embed $(srcdir)/common/key_room/lua \
		$(key_room_lua_names) >$@.tmp && mv $@.tmp $@
