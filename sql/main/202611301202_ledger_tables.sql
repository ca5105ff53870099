-- The durable books. Every key is a UUIDv7, so the day of an entry follows from its key alone.

-- The day partitions in front of the last one are made by `tollgatectl migrate` and the daemon;
-- the last one catches ids of clocks that run ahead.
CREATE TABLE IF NOT EXISTS ledger_entry (
    request_id BINARY(16) NOT NULL,
    shard SMALLINT NOT NULL,
    kind VARCHAR(16) NOT NULL,
    user_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL DEFAULT 0,
    channel_id BIGINT NOT NULL DEFAULT 0,
    plan_id BIGINT NOT NULL DEFAULT 0,
    amount_quota BIGINT NOT NULL,
    source VARCHAR(16) NOT NULL DEFAULT 'redis',
    batch BINARY(16) NOT NULL,
    at DATETIME(6) NOT NULL,
    PRIMARY KEY (request_id),
    KEY batch (batch),
    KEY user_request (user_id, request_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE COLUMNS (request_id) (PARTITION later VALUES LESS THAN (MAXVALUE));

CREATE TABLE IF NOT EXISTS ledger_day (
    day DATE NOT NULL,
    user_id BIGINT NOT NULL,
    kind VARCHAR(16) NOT NULL,
    amount_quota BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (day, user_id, kind),
    KEY user_id (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row a shard: how far its journal was applied, and of which server and epoch it is.
CREATE TABLE IF NOT EXISTS ledger_cursor (
    shard SMALLINT NOT NULL,
    epoch BIGINT NOT NULL DEFAULT 0,
    run_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    stream_id VARCHAR(43) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '0-0',
    updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO ledger_cursor (shard) VALUES
    (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15),
    (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
    (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47),
    (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63)
ON DUPLICATE KEY UPDATE ledger_cursor.shard = ledger_cursor.shard;

-- Journal entries that could not be applied, with the reason.
CREATE TABLE IF NOT EXISTS ledger_reject (
    id BIGINT NOT NULL AUTO_INCREMENT,
    shard SMALLINT NOT NULL,
    stream_id VARCHAR(43) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    request_id BINARY(16) NULL,
    body MEDIUMTEXT NOT NULL,
    reason VARCHAR(512) NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    KEY request_id (request_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- History of rebuilds.
CREATE TABLE IF NOT EXISTS ledger_rebuild (
    id BIGINT NOT NULL AUTO_INCREMENT,
    shard SMALLINT NOT NULL,
    epoch BIGINT NOT NULL,
    run_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    node VARCHAR(64) NOT NULL DEFAULT '',
    reason VARCHAR(255) NOT NULL DEFAULT '',
    entries BIGINT NOT NULL DEFAULT 0,
    started_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    finished_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    KEY shard (shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Money for users. Pushed to Redis until ledger_entry has entry_id.
CREATE TABLE IF NOT EXISTS credits (
    id BIGINT NOT NULL AUTO_INCREMENT,
    entry_id BINARY(16) NOT NULL,
    user_id BIGINT NOT NULL,
    amount_quota BIGINT NOT NULL,
    kind VARCHAR(16) NOT NULL,
    reason VARCHAR(255) NOT NULL DEFAULT '',
    actor_id BIGINT NOT NULL DEFAULT 0,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    applied_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY entry_id (entry_id),
    KEY user_id (user_id),
    KEY applied_at (applied_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Changes of a token's remain and flags, and of a user's authver, that Redis must learn of.
CREATE TABLE IF NOT EXISTS adjustments (
    id BIGINT NOT NULL AUTO_INCREMENT,
    entry_id BINARY(16) NOT NULL,
    token_id BIGINT NOT NULL DEFAULT 0,
    user_id BIGINT NOT NULL,
    delta BIGINT NOT NULL DEFAULT 0,
    -- -1: left as it is
    unlimited TINYINT NOT NULL DEFAULT -1,
    -- 0: left as it is
    authver BIGINT NOT NULL DEFAULT 0,
    reason VARCHAR(255) NOT NULL DEFAULT '',
    actor BIGINT NOT NULL DEFAULT 0,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    applied_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY entry_id (entry_id),
    KEY user_id (user_id),
    KEY applied_at (applied_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Deposits taken, and requests ended, while Redis was away.
CREATE TABLE IF NOT EXISTS offline_hold (
    request_id BINARY(16) NOT NULL,
    user_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    plan_id BIGINT NOT NULL DEFAULT 0,
    amount_quota BIGINT NOT NULL,
    earned_quota BIGINT NOT NULL DEFAULT 0,
    node VARCHAR(64) NOT NULL,
    worker BIGINT NOT NULL DEFAULT 0,
    due_at DATETIME(6) NOT NULL,
    PRIMARY KEY (request_id),
    KEY user_id (user_id),
    KEY due_at (due_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS offline_entry (
    request_id BINARY(16) NOT NULL,
    user_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    plan_id BIGINT NOT NULL DEFAULT 0,
    amount_quota BIGINT NOT NULL,
    node VARCHAR(64) NOT NULL,
    -- the entry as one line of JSON, its record included
    body MEDIUMTEXT NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (request_id),
    KEY user_id (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Records of applied batches on their way to the log database.
CREATE TABLE IF NOT EXISTS log_batch (
    id BINARY(16) NOT NULL,
    shard SMALLINT NOT NULL,
    body LONGBLOB NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
