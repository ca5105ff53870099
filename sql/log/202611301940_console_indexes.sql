-- The request log is read in pages by (created_at, request_id). On a partitioned table an index gives
-- that order only when it names both columns (InnoDB stores the key in it anyway: no byte more).
-- What operators look for is rare among millions of rows: errors, and answers of another model than
-- was asked for. A user's own sums are found without those of all others.
-- MySQL has no ADD ... IF NOT EXISTS; a file that was cut in the middle is run again.

SET @change = IF(
    EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
            AND TABLE_NAME = 'request_log' AND COLUMN_NAME = 'failed'),
    'DO 0',
    'ALTER TABLE request_log
     ADD COLUMN failed TINYINT AS (status >= 400 OR error_code <> '''') VIRTUAL,
     DROP KEY created_at, ADD KEY created_at (created_at, request_id),
     DROP KEY user_created, ADD KEY user_created (user_id, created_at, request_id),
     DROP KEY token_created, ADD KEY token_created (token_id, created_at, request_id),
     DROP KEY channel_created, ADD KEY channel_created (channel_id, created_at, request_id),
     DROP KEY model_created, ADD KEY model_created (served_model, created_at, request_id),
     ADD KEY failed_created (failed, created_at, request_id),
     ADD KEY fallback_created (was_fallback, created_at, request_id)');
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
