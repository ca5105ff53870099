-- Where a price comes from, and users who accept the default price for models without one.
-- Repeating it changes nothing: ADD COLUMN IF NOT EXISTS is not known to MySQL.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'model_prices' AND COLUMN_NAME = 'vendor') = 0,
    'ALTER TABLE model_prices ADD COLUMN vendor VARCHAR(32) NOT NULL DEFAULT ''''',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'model_prices' AND COLUMN_NAME = 'dated') = 0,
    'ALTER TABLE model_prices ADD COLUMN dated CHAR(10) NOT NULL DEFAULT ''''',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'users'
    AND COLUMN_NAME = 'accept_unpriced') = 0,
    'ALTER TABLE users ADD COLUMN accept_unpriced TINYINT NOT NULL DEFAULT 0',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;
