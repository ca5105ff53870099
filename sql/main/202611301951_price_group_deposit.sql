-- A group's own factor on deposits; NULL: deposit.factor of the settings. May be repeated.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'groups'
    AND COLUMN_NAME = 'deposit_factor') = 0,
    'ALTER TABLE `groups` ADD COLUMN deposit_factor DECIMAL(20,10) NULL',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;
