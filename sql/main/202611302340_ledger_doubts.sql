-- What no sum of the books shows by itself: lines that are missing in a spool, requests that their
-- worker left open although it ended in order. The audit is red until somebody has accepted them.
CREATE TABLE IF NOT EXISTS ledger_doubt (
    id BIGINT NOT NULL AUTO_INCREMENT,
    kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    node VARCHAR(64) NOT NULL,
    worker BIGINT NOT NULL,
    place BIGINT NOT NULL DEFAULT 0,
    request_id BINARY(16) NOT NULL,
    detail VARCHAR(255) NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    accepted_at DATETIME(6) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY once (kind, node, worker, place, request_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What a request had earned when its deposit was given back by a sweep; what ends as expired must
-- charge no less.
CREATE TABLE IF NOT EXISTS ledger_lapse (
    request_id BINARY(16) NOT NULL,
    earned_quota BIGINT NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (request_id),
    KEY at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
