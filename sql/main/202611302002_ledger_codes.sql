-- Codes that are worth money once. The code itself is shown when it is made, and kept as its
-- SHA-256 only: it has 128 random bits.
CREATE TABLE IF NOT EXISTS redemption_codes (
    id BIGINT NOT NULL AUTO_INCREMENT,
    code_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    hint VARCHAR(8) NOT NULL DEFAULT '',
    quota BIGINT NOT NULL,
    plan_id BIGINT NOT NULL DEFAULT 0,
    status VARCHAR(16) NOT NULL DEFAULT 'unused',
    expires_at DATETIME(6) NULL,
    used_by BIGINT NOT NULL DEFAULT 0,
    used_at DATETIME(6) NULL,
    batch VARCHAR(64) NOT NULL DEFAULT '',
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    UNIQUE KEY code_hash (code_hash),
    KEY batch (batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
