-- Which keys of a channel are the same: HMAC-SHA-256 under the token pepper; NULL: of before.
-- Repeating it changes nothing: ADD COLUMN IF NOT EXISTS is not known to MySQL.

SET @tollgate_sql = IF((SELECT COUNT(*) FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'channel_keys'
    AND COLUMN_NAME = 'fingerprint') = 0,
    'ALTER TABLE channel_keys ADD COLUMN fingerprint BINARY(32) NULL,
     ADD KEY channel_fingerprint (channel_id, fingerprint)',
    'DO 0');
PREPARE tollgate_step FROM @tollgate_sql;
EXECUTE tollgate_step;
DEALLOCATE PREPARE tollgate_step;
