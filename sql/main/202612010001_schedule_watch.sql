-- What tests and the providers' own accounts said of a channel last, and which channels the nodes
-- let rest. None of it is routing: no worker reads it.
-- Repeating it changes nothing: ADD COLUMN IF NOT EXISTS is not known to MySQL.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels' AND COLUMN_NAME = 'tested_at') = 0,
    'ALTER TABLE channels ADD COLUMN tested_at DATETIME(6) NULL',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels' AND COLUMN_NAME = 'test_ms') = 0,
    'ALTER TABLE channels ADD COLUMN test_ms BIGINT NULL',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels' AND COLUMN_NAME = 'test_code') = 0,
    'ALTER TABLE channels ADD COLUMN test_code VARCHAR(64) NOT NULL DEFAULT ''''',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels' AND COLUMN_NAME = 'balance_at') = 0,
    'ALTER TABLE channels ADD COLUMN balance_at DATETIME(6) NULL',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels' AND COLUMN_NAME = 'balance_code') = 0,
    'ALTER TABLE channels ADD COLUMN balance_code VARCHAR(64) NOT NULL DEFAULT ''''',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

-- Only what is not closed; a node writes its own rows anew whenever one of them changes, and says
-- that they still hold by seen_at.
CREATE TABLE IF NOT EXISTS breaker_states (
    node VARCHAR(64) NOT NULL,
    channel_id BIGINT NOT NULL,
    model VARCHAR(191) NOT NULL,
    state VARCHAR(16) NOT NULL,
    until_at DATETIME(6) NOT NULL,
    seen_at DATETIME(6) NOT NULL,
    PRIMARY KEY (node, channel_id, model),
    KEY channel (channel_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
