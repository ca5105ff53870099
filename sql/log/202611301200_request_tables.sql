-- What happened: one row a request, its details, hourly sums. The month partitions in front of the
-- last one are made by `tollgatectl migrate` and the daemon.

CREATE TABLE IF NOT EXISTS request_log (
    request_id BINARY(16) NOT NULL,
    created_at DATETIME(6) NOT NULL,
    client_request_id VARCHAR(128) NOT NULL DEFAULT '',
    node VARCHAR(64) NOT NULL DEFAULT '',
    endpoint VARCHAR(64) NOT NULL DEFAULT '',
    protocol VARCHAR(16) NOT NULL DEFAULT '',
    stream TINYINT NOT NULL DEFAULT 0,
    user_id BIGINT NOT NULL DEFAULT 0,
    token_id BIGINT NOT NULL DEFAULT 0,
    token_name VARCHAR(64) NOT NULL DEFAULT '',
    team VARCHAR(64) NOT NULL DEFAULT '',
    address VARCHAR(45) NOT NULL DEFAULT '',
    requested_model VARCHAR(191) NOT NULL DEFAULT '',
    served_model VARCHAR(191) NOT NULL DEFAULT '',
    upstream_model VARCHAR(191) NOT NULL DEFAULT '',
    rule_id BIGINT NOT NULL DEFAULT 0,
    group_name VARCHAR(64) NOT NULL DEFAULT '',
    channel_id BIGINT NOT NULL DEFAULT 0,
    key_hint VARCHAR(8) NOT NULL DEFAULT '',
    affinity TINYINT NOT NULL DEFAULT 0,
    was_fallback TINYINT NOT NULL DEFAULT 0,
    promoted TINYINT NOT NULL DEFAULT 0,
    attempts INT NOT NULL DEFAULT 0,
    status SMALLINT NOT NULL DEFAULT 0,
    error_code VARCHAR(48) NOT NULL DEFAULT '',
    end_reason VARCHAR(24) NOT NULL DEFAULT '',
    input BIGINT NOT NULL DEFAULT 0,
    cache_read BIGINT NOT NULL DEFAULT 0,
    cache_write_5m BIGINT NOT NULL DEFAULT 0,
    cache_write_1h BIGINT NOT NULL DEFAULT 0,
    output BIGINT NOT NULL DEFAULT 0,
    reasoning BIGINT NOT NULL DEFAULT 0,
    image BIGINT NOT NULL DEFAULT 0,
    audio_in BIGINT NOT NULL DEFAULT 0,
    audio_out BIGINT NOT NULL DEFAULT 0,
    tool_calls BIGINT NOT NULL DEFAULT 0,
    usage_source VARCHAR(24) NOT NULL DEFAULT '',
    quota BIGINT NOT NULL DEFAULT 0,
    cost_unbilled BIGINT NOT NULL DEFAULT 0,
    funding VARCHAR(32) NOT NULL DEFAULT '',
    price_hash VARCHAR(64) NOT NULL DEFAULT '',
    first_token_us BIGINT NOT NULL DEFAULT 0,
    total_us BIGINT NOT NULL DEFAULT 0,
    -- {"access":120,...}: microseconds by stage
    stages_json TEXT NULL,
    request_bytes BIGINT NOT NULL DEFAULT 0,
    response_bytes BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (request_id, created_at),
    KEY created_at (created_at),
    KEY user_created (user_id, created_at),
    KEY token_created (token_id, created_at),
    KEY channel_created (channel_id, created_at),
    KEY model_created (served_model, created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE COLUMNS (created_at) (PARTITION later VALUES LESS THAN (MAXVALUE));

CREATE TABLE IF NOT EXISTS request_detail (
    request_id BINARY(16) NOT NULL,
    created_at DATETIME(6) NOT NULL,
    attempts_json MEDIUMTEXT NULL,
    diagnostics_json MEDIUMTEXT NULL,
    bill_json MEDIUMTEXT NULL,
    limits_json MEDIUMTEXT NULL,
    PRIMARY KEY (request_id, created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE COLUMNS (created_at) (PARTITION later VALUES LESS THAN (MAXVALUE));

CREATE TABLE IF NOT EXISTS usage_hourly (
    hour DATETIME NOT NULL,
    user_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    team VARCHAR(64) NOT NULL,
    served_model VARCHAR(191) NOT NULL,
    channel_id BIGINT NOT NULL,
    requests BIGINT NOT NULL DEFAULT 0,
    errors BIGINT NOT NULL DEFAULT 0,
    fallbacks BIGINT NOT NULL DEFAULT 0,
    input BIGINT NOT NULL DEFAULT 0,
    cache_read BIGINT NOT NULL DEFAULT 0,
    cache_write_5m BIGINT NOT NULL DEFAULT 0,
    cache_write_1h BIGINT NOT NULL DEFAULT 0,
    output BIGINT NOT NULL DEFAULT 0,
    reasoning BIGINT NOT NULL DEFAULT 0,
    image BIGINT NOT NULL DEFAULT 0,
    audio_in BIGINT NOT NULL DEFAULT 0,
    audio_out BIGINT NOT NULL DEFAULT 0,
    tool_calls BIGINT NOT NULL DEFAULT 0,
    quota BIGINT NOT NULL DEFAULT 0,
    total_us BIGINT NOT NULL DEFAULT 0,
    first_token_us BIGINT NOT NULL DEFAULT 0,
    -- requests by total time, each counted in the first bucket that holds it
    total_100ms BIGINT NOT NULL DEFAULT 0,
    total_300ms BIGINT NOT NULL DEFAULT 0,
    total_1s BIGINT NOT NULL DEFAULT 0,
    total_3s BIGINT NOT NULL DEFAULT 0,
    total_10s BIGINT NOT NULL DEFAULT 0,
    total_30s BIGINT NOT NULL DEFAULT 0,
    total_100s BIGINT NOT NULL DEFAULT 0,
    total_longer BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (hour, user_id, token_id, team, served_model, channel_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Batches of the main database's log_batch that are in already: each counts once.
CREATE TABLE IF NOT EXISTS log_applied (
    batch_id BINARY(16) NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (batch_id),
    KEY at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
