# Migrations, installed under pkgdatadir.
nobase_dist_pkgdata_DATA += \
	sql/main/202611301200_account_tables.sql \
	sql/main/202611301201_routing_tables.sql \
	sql/main/202611301202_ledger_tables.sql \
	sql/main/202611301203_system_tables.sql \
	sql/main/202611302001_ledger_idempotency.sql \
	sql/main/202611302002_ledger_codes.sql \
	sql/main/202611302340_ledger_doubts.sql \
	sql/main/202612010051_ledger_plan_resets.sql \
	sql/main/202612010052_ledger_worker_end.sql \
	sql/main/202611301940_console_tables.sql \
	sql/main/202611301950_price_facts.sql \
	sql/main/202611301951_price_group_deposit.sql \
	sql/main/202612010001_schedule_watch.sql \
	sql/main/202612010011_keys_master_key.sql \
	sql/main/202612010012_keys_fingerprint.sql \
	sql/main/202612010002_schedule_balance.sql \
	sql/log/202611301200_request_tables.sql \
	sql/log/202611301940_console_indexes.sql
