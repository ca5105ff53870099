-- Where a channel's provider is asked what is left of the account; '' goes by its address.
-- Repeating it changes nothing: ADD COLUMN IF NOT EXISTS is not known to MySQL.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channels'
    AND COLUMN_NAME = 'balance_from') = 0,
    'ALTER TABLE channels ADD COLUMN balance_from VARCHAR(16) NOT NULL DEFAULT ''''',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;
