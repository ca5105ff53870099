-- Which master key is sealed with, and which node can open what (`tollgatectl rotate-master-key`).

-- One row. Nothing is sealed with an older version than this one; next_public: a change of the
-- master key has begun, and this is the key it leads to.
CREATE TABLE IF NOT EXISTS master_key (
    id TINYINT NOT NULL,
    version INT NOT NULL,
    next_public VARBINARY(32) NULL,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO master_key (id, version) VALUES (1, 1)
ON DUPLICATE KEY UPDATE master_key.id = master_key.id;

-- What the gateway of a node has read in its own tollgate.secrets.
CREATE TABLE IF NOT EXISTS node_master_key (
    node VARCHAR(64) NOT NULL,
    newest INT NOT NULL,
    read_at DATETIME(6) NOT NULL,
    PRIMARY KEY (node)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
