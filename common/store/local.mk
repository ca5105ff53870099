libcommon_a_SOURCES += \
	common/store/read.c common/store/read.h \
	common/store/split.c common/store/split.h \
	common/store/check.c common/store/check.h \
	common/store/migrate.c common/store/migrate.h \
	common/store/partition.c common/store/partition.h \
	common/store/change.c common/store/change.h \
	common/store/user.c common/store/user.h \
	common/store/token.c common/store/token.h \
	common/store/channel.c common/store/channel.h common/store/channel_auto.c \
	common/store/channel_watch.c common/store/channel_watch.h \
	common/store/price.c common/store/price.h \
	common/store/group.c common/store/group.h \
	common/store/credit.c common/store/credit.h \
	common/store/option.c common/store/option.h \
	common/store/overlay.c common/store/overlay.h \
	common/store/view.c common/store/view.h \
	common/store/credential.c common/store/credential.h \
	common/store/routing.c common/store/routing.h \
	common/store/key_state.c common/store/key_state.h \
	common/store/master_key.c common/store/master_key.h \
	common/store/balance.c common/store/balance.h

# The daemon's side: the journal into the books, the records into the log database.
libcommon_a_SOURCES += \
	common/store/journal.h common/store/journal.c \
	common/store/entry_rows.h common/store/entry_rows.c \
	common/store/movement.h common/store/movement.c \
	common/store/ledger_export.h common/store/ledger_export.c \
	common/store/idempotency.h common/store/idempotency.c \
	common/store/code.h common/store/code.c \
	common/store/offline.h common/store/offline.c \
	common/store/offline_hold.h common/store/offline_hold.c \
	common/store/log_batch.h common/store/log_batch.c \
	common/store/log_rows.h common/store/log_rows.c \
	common/store/log_hours.h common/store/log_hours.c \
	common/store/log_record.h common/store/log_record.c \
	common/store/ids.h common/store/ids.c \
	common/store/pending.h common/store/pending.c \
	common/store/lease.h common/store/lease.c \
	common/store/node.h common/store/node.c \
	common/store/rebuild_note.h common/store/rebuild_note.c \
	common/store/doubt.h common/store/doubt.c \
	common/store/ledger_day.h common/store/ledger_day.c \
	common/store/plan_reset.h common/store/plan_reset.c \
	common/store/plan_fold.h common/store/plan_fold.c \
	common/store/audit.h common/store/audit.c \
	common/store/audit_log.h common/store/audit_log.c

# The console's side: who is logged in, what may be changed, pages of rows.
libcommon_a_SOURCES += \
	common/store/session.c common/store/session.h \
	common/store/pat.c common/store/pat.h \
	common/store/login_attempt.c common/store/login_attempt.h \
	common/store/acl.c common/store/acl.h \
	common/store/authver.c common/store/authver.h \
	common/store/person.c common/store/person.h \
	common/store/token_change.c common/store/token_change.h \
	common/store/channel_parts.c common/store/channel_parts.h \
	common/store/channel_change.c common/store/channel_change.h \
	common/store/channel_key.c \
	common/store/group_access.c \
	common/store/group_view.c common/store/group_view.h \
	common/store/columns.c common/store/columns.h \
	common/store/csv.c common/store/csv.h \
	common/store/names.c common/store/names.h \
	common/store/paging.c common/store/paging.h common/store/list.h \
	common/store/list_users.c \
	common/store/list_routes.c \
	common/store/list_prices.c \
	common/store/list_audit.c \
	common/store/story.c common/store/story.h \
	common/store/list_requests.c common/store/list_requests.h \
	common/store/usage_sum.c common/store/usage_sum.h
