-- Periods of plans. What an entry takes out of a plan is not always what it charges: the deposit of
-- an ended period went with that period. May be repeated.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'ledger_entry'
    AND COLUMN_NAME = 'plan_quota') = 0,
    'ALTER TABLE ledger_entry ADD COLUMN plan_quota BIGINT NOT NULL DEFAULT 0,
     ADD COLUMN plan_period BIGINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

UPDATE ledger_entry SET plan_quota = amount_quota
    WHERE plan_id <> 0 AND plan_quota = 0 AND plan_period = 0;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'offline_hold'
    AND COLUMN_NAME = 'plan_period') = 0,
    'ALTER TABLE offline_hold ADD COLUMN plan_period BIGINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'subscriptions'
    AND INDEX_NAME = 'period_end_at') = 0,
    'ALTER TABLE subscriptions ADD KEY period_end_at (period_end_at)',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

-- One row a subscription and period that began: pushed to Redis until ledger_entry has entry_id.
CREATE TABLE IF NOT EXISTS plan_resets (
    id BIGINT NOT NULL AUTO_INCREMENT,
    entry_id BINARY(16) NOT NULL,
    subscription_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    period_number BIGINT NOT NULL,
    -- of the period that begins
    quota BIGINT NOT NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    applied_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY entry_id (entry_id),
    UNIQUE KEY period (subscription_id, period_number),
    KEY applied_at (applied_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
