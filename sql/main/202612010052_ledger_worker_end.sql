-- Workers that ended in order: every request of theirs has its line in the spool. One that left a
-- request open all the same is a doubt (ledger_doubt), whenever that is found.
CREATE TABLE IF NOT EXISTS ledger_worker_end (
    node VARCHAR(64) NOT NULL,
    worker BIGINT NOT NULL,
    at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (node, worker),
    KEY at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
