-- Requests with an Idempotency-Key: kept for a day. `due_at` is the lease of one that runs.
CREATE TABLE IF NOT EXISTS idempotency (
    token_id BIGINT NOT NULL,
    key_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    body_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    request_id BINARY(16) NOT NULL,
    state VARCHAR(16) NOT NULL DEFAULT 'running',
    status INT NOT NULL DEFAULT 0,
    answer MEDIUMBLOB NULL,
    due_at DATETIME(6) NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (token_id, key_hash),
    KEY at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
