-- Users, their groups and tokens, plans. quota, remain_quota and used_quota are moved by the
-- applier of the journal only; offline_quota by conditional updates while Redis is away.

CREATE TABLE IF NOT EXISTS users (
    id BIGINT NOT NULL AUTO_INCREMENT,
    -- 'Root' must not pass for 'root'
    username VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
    role VARCHAR(16) NOT NULL DEFAULT 'user',
    status VARCHAR(16) NOT NULL DEFAULT 'enabled',
    group_name VARCHAR(64) NOT NULL DEFAULT 'default',
    team VARCHAR(64) NOT NULL DEFAULT '',
    quota BIGINT NOT NULL DEFAULT 0,
    offline_quota BIGINT NOT NULL DEFAULT 0,
    used_quota BIGINT NOT NULL DEFAULT 0,
    request_count BIGINT NOT NULL DEFAULT 0,
    authver BIGINT NOT NULL DEFAULT 1,
    password_hash VARCHAR(255) NULL,
    totp VARBINARY(512) NULL,
    funding_preference VARCHAR(24) NOT NULL DEFAULT 'subscription_first',
    locale VARCHAR(16) NOT NULL DEFAULT '',
    time_zone VARCHAR(64) NOT NULL DEFAULT 'UTC',
    limits JSON NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    UNIQUE KEY username (username)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `groups` (
    name VARCHAR(64) NOT NULL,
    ratio DECIMAL(20,10) NOT NULL DEFAULT 1,
    order_mode VARCHAR(24) NOT NULL DEFAULT '',
    description VARCHAR(255) NOT NULL DEFAULT '',
    limits JSON NULL,
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO `groups` (name) VALUES ('default') ON DUPLICATE KEY UPDATE `groups`.name = `groups`.name;

CREATE TABLE IF NOT EXISTS group_access (
    user_group VARCHAR(64) NOT NULL,
    used_group VARCHAR(64) NOT NULL,
    ratio DECIMAL(20,10) NULL,
    allowed TINYINT NOT NULL DEFAULT 1,
    PRIMARY KEY (user_group, used_group)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tokens (
    id BIGINT NOT NULL AUTO_INCREMENT,
    key_hmac CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_id BIGINT NOT NULL,
    name VARCHAR(64) NOT NULL DEFAULT '',
    team VARCHAR(64) NOT NULL DEFAULT '',
    hint CHAR(4) NOT NULL DEFAULT '',
    status VARCHAR(16) NOT NULL DEFAULT 'enabled',
    expires_at DATETIME(6) NULL,
    remain_quota BIGINT NOT NULL DEFAULT 0,
    offline_quota BIGINT NOT NULL DEFAULT 0,
    unlimited TINYINT NOT NULL DEFAULT 0,
    used_quota BIGINT NOT NULL DEFAULT 0,
    group_name VARCHAR(64) NOT NULL DEFAULT '',
    auto_groups JSON NULL,
    cross_group_retry TINYINT NOT NULL DEFAULT 0,
    -- NULL: every model; an empty list: none
    model_limits JSON NULL,
    allow_addresses JSON NULL,
    stream_mode VARCHAR(16) NOT NULL DEFAULT '',
    loss_policy VARCHAR(16) NOT NULL DEFAULT '',
    limits JSON NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    UNIQUE KEY key_hmac (key_hmac),
    KEY user_id (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS plans (
    id BIGINT NOT NULL AUTO_INCREMENT,
    name VARCHAR(64) NOT NULL,
    quota_per_period BIGINT NOT NULL,
    period VARCHAR(32) NOT NULL,
    duration VARCHAR(32) NOT NULL,
    price_usd DECIMAL(20,10) NOT NULL DEFAULT 0,
    upgrade_group VARCHAR(64) NOT NULL DEFAULT '',
    allow_wallet_overflow TINYINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS subscriptions (
    id BIGINT NOT NULL AUTO_INCREMENT,
    user_id BIGINT NOT NULL,
    plan_id BIGINT NOT NULL,
    remain_quota BIGINT NOT NULL DEFAULT 0,
    offline_quota BIGINT NOT NULL DEFAULT 0,
    period_number BIGINT NOT NULL DEFAULT 0,
    period_end_at DATETIME(6) NULL,
    ends_at DATETIME(6) NULL,
    status VARCHAR(16) NOT NULL DEFAULT 'active',
    PRIMARY KEY (id),
    KEY user_id (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
