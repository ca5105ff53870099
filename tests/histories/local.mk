# Random histories of the ledger; the linker leads calls of the clock and of the stores to
# tests/histories/seam.c and reversals.c.
check_PROGRAMS += histories
histories_SOURCES = tests/histories/main.c \
	tests/histories/acts.c tests/histories/acts.h \
	tests/histories/fiber.c tests/histories/fiber.h \
	tests/histories/reversals.c \
	tests/histories/rules.c tests/histories/rules.h \
	tests/histories/seam.c tests/histories/seam.h \
	tests/histories/servers.c tests/histories/servers.h \
	tests/histories/truth.c tests/histories/truth.h \
	tests/histories/world.c tests/histories/world.h \
	tests/unit/lib/schema.c tests/unit/lib/schema.h \
	tests/unit/lib/server.c tests/unit/lib/server.h \
	tests/unit/lib/mariadb.c tests/unit/lib/mariadb.h
histories_LDADD = $(COMMON_LIBS)
histories_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=tg_now_us -Wl,--wrap=tg_unix_us \
	-Wl,--wrap=tg_clock_sleep_us -Wl,--wrap=tg_id_new -Wl,--wrap=tg_kv_acquire \
	-Wl,--wrap=tg_kv_release -Wl,--wrap=tg_kv_run -Wl,--wrap=tg_kv_command \
	-Wl,--wrap=tg_kv_server_ms -Wl,--wrap=tg_kv_sync_clock -Wl,--wrap=tg_db_acquire \
	-Wl,--wrap=tg_db_release -Wl,--wrap=tg_db_run -Wl,--wrap=tg_db_select \
	-Wl,--wrap=tg_db_begin -Wl,--wrap=tg_db_commit -Wl,--wrap=tg_db_rollback \
	-Wl,--wrap=tg_db_error -Wl,--wrap=tg_shard_lapse -Wl,--wrap=tg_spool_watch_is_done_with \
	-Wl,--wrap=tg_journal_lock -Wl,--wrap=tg_journal_apply -Wl,--wrap=tg_pending_entries \
	-Wl,--wrap=tg_shard_journal_tail -Wl,--wrap=tg_run_to_answer
