-- What operators look for is rare among millions of rows: errors, and answers of another model than
-- was asked for. A user's own sums are found without those of all others.
-- MySQL has no ADD ... IF NOT EXISTS; a file that was cut in the middle is run again.

SET @change = IF(
    EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
            AND TABLE_NAME = 'request_log' AND COLUMN_NAME = 'failed'),
    'DO 0',
    'ALTER TABLE request_log
     ADD COLUMN failed TINYINT AS (status >= 400 OR error_code <> '''') VIRTUAL,
     ADD KEY failed_created (failed, created_at),
     ADD KEY fallback_created (was_fallback, created_at)');
PREPARE change_log FROM @change;
EXECUTE change_log;
DEALLOCATE PREPARE change_log;

SET @change = IF(
    EXISTS (SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()
            AND TABLE_NAME = 'usage_hourly' AND INDEX_NAME = 'user_hour'),
    'DO 0',
    'ALTER TABLE usage_hourly ADD KEY user_hour (user_id, hour)');
PREPARE change_usage FROM @change;
EXECUTE change_usage;
DEALLOCATE PREPARE change_usage;
