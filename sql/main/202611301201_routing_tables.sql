-- Channels, the index made from them, prices. Every change raises routing_version in its own
-- transaction: that number is how the workers learn of it.

CREATE TABLE IF NOT EXISTS channels (
    id BIGINT NOT NULL AUTO_INCREMENT,
    name VARCHAR(64) NOT NULL,
    tag VARCHAR(64) NOT NULL DEFAULT '',
    provider VARCHAR(32) NOT NULL DEFAULT 'openai',
    base_url VARCHAR(512) NOT NULL,
    organisation VARCHAR(128) NOT NULL DEFAULT '',
    status VARCHAR(16) NOT NULL DEFAULT 'enabled',
    status_reason VARCHAR(255) NOT NULL DEFAULT '',
    priority BIGINT NOT NULL DEFAULT 0,
    weight BIGINT NOT NULL DEFAULT 1,
    models JSON NOT NULL,
    groups_list JSON NOT NULL,
    model_mapping JSON NULL,
    param_override JSON NULL,
    header_override JSON NULL,
    status_mapping JSON NULL,
    system_prompt MEDIUMTEXT NULL,
    proxy VARCHAR(512) NOT NULL DEFAULT '',
    timeouts JSON NULL,
    loss_policy VARCHAR(16) NOT NULL DEFAULT '',
    key_mode VARCHAR(16) NOT NULL DEFAULT '',
    auto_disable TINYINT NOT NULL DEFAULT 1,
    test_model VARCHAR(191) NOT NULL DEFAULT '',
    balance_usd DECIMAL(20,10) NULL,
    bill VARCHAR(16) NOT NULL DEFAULT 'requested',
    options JSON NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS channel_keys (
    id BIGINT NOT NULL AUTO_INCREMENT,
    channel_id BIGINT NOT NULL,
    position INT NOT NULL,
    sealed VARBINARY(8192) NOT NULL,
    key_version INT NOT NULL,
    hint CHAR(4) NOT NULL DEFAULT '',
    state VARCHAR(16) NOT NULL DEFAULT 'active',
    state_until_at DATETIME(6) NULL,
    state_reason VARCHAR(255) NOT NULL DEFAULT '',
    state_event BIGINT NOT NULL DEFAULT 0,
    cap_unit VARCHAR(16) NOT NULL DEFAULT '',
    cap_value BIGINT NOT NULL DEFAULT 0,
    reset_hour TINYINT NOT NULL DEFAULT 0,
    reset_zone VARCHAR(64) NOT NULL DEFAULT 'UTC',
    used BIGINT NOT NULL DEFAULT 0,
    used_since_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY channel_position (channel_id, position)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS abilities (
    group_name VARCHAR(64) NOT NULL,
    model VARCHAR(191) NOT NULL,
    channel_id BIGINT NOT NULL,
    enabled TINYINT NOT NULL,
    priority BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    PRIMARY KEY (group_name, model, channel_id),
    KEY channel_id (channel_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- USD per 1M tokens; call_price per call; NULL: not set.
CREATE TABLE IF NOT EXISTS model_prices (
    model VARCHAR(191) NOT NULL,
    form VARCHAR(16) NOT NULL,
    input DECIMAL(20,10) NULL,
    output DECIMAL(20,10) NULL,
    cache_read DECIMAL(20,10) NULL,
    cache_write_5m DECIMAL(20,10) NULL,
    cache_write_1h DECIMAL(20,10) NULL,
    image DECIMAL(20,10) NULL,
    audio_in DECIMAL(20,10) NULL,
    audio_out DECIMAL(20,10) NULL,
    call_price DECIMAL(20,10) NULL,
    -- {"default":"0.01"}: USD per tool call
    tool_prices JSON NULL,
    tiers JSON NULL,
    expression TEXT NULL,
    hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    context_tokens BIGINT NOT NULL DEFAULT 0,
    max_output_tokens BIGINT NOT NULL DEFAULT 0,
    updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (model)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS routing_version (
    id TINYINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO routing_version (id, version) VALUES (1, 1)
ON DUPLICATE KEY UPDATE routing_version.id = routing_version.id;
