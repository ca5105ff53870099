-- Settings, nodes, who changed what.

CREATE TABLE IF NOT EXISTS options (
    name VARCHAR(64) NOT NULL,
    value TEXT NOT NULL,
    updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_by BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS node (
    name VARCHAR(64) NOT NULL,
    incarnation BIGINT NOT NULL DEFAULT 0,
    state VARCHAR(16) NOT NULL DEFAULT 'online',
    seen_at DATETIME(6) NULL,
    spool_clear_at DATETIME(6) NULL,
    PRIMARY KEY (name),
    KEY state (state)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS node_lease (
    name VARCHAR(64) NOT NULL,
    node VARCHAR(64) NOT NULL DEFAULT '',
    until_at DATETIME(6) NOT NULL,
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Each row's hash covers the one before it: a row that was changed or taken out shows.
CREATE TABLE IF NOT EXISTS audit_log (
    id BIGINT NOT NULL AUTO_INCREMENT,
    at DATETIME(6) NOT NULL,
    actor_id BIGINT NOT NULL DEFAULT 0,
    address VARCHAR(45) NOT NULL DEFAULT '',
    action VARCHAR(48) NOT NULL,
    object_type VARCHAR(32) NOT NULL,
    object_id VARCHAR(191) NOT NULL,
    before_json MEDIUMTEXT NULL,
    after_json MEDIUMTEXT NULL,
    previous_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (id),
    KEY at (at),
    KEY object (object_type, object_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The end of the chain; locked by whoever adds a row.
CREATE TABLE IF NOT EXISTS audit_chain (
    id TINYINT NOT NULL,
    hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO audit_chain (id) VALUES (1) ON DUPLICATE KEY UPDATE audit_chain.id = audit_chain.id;
