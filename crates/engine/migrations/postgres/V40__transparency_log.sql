-- The transparency log: one Merkle tree a project over all its lanes. Batches of entries are sealed in one transaction each,
-- guarded by the version of the only row of log_sealer, so two nodes can never seal one entry twice.

CREATE TABLE log_sealer (key BIGINT PRIMARY KEY, version BIGINT NOT NULL, sealed_at BIGINT NOT NULL);
INSERT INTO log_sealer (key, version, sealed_at) VALUES (1, 0, 0);

-- How far each lane is sealed, over all projects.
CREATE TABLE log_lanes (lane BIGINT PRIMARY KEY, pos BIGINT NOT NULL);

-- edge: the hashes of the incomplete tile of each level, from level 0 up. epoch: in which the log got its name; after a
-- restore it goes on under another one, because entries that others have seen may be lost.
CREATE TABLE logs (
    project BIGINT PRIMARY KEY, origin TEXT NOT NULL, epoch BIGINT NOT NULL, size BIGINT NOT NULL, root BYTEA NOT NULL, edge BYTEA NOT NULL
);

-- Complete tiles only: written once.
CREATE TABLE log_tiles (
    project BIGINT NOT NULL, level BIGINT NOT NULL, number BIGINT NOT NULL, hashes BYTEA NOT NULL,
    PRIMARY KEY (project, level, number)
);

-- The entries of a project in one lane that were sealed together: seq - first_seq + first_index is the index of an entry.
-- chain: the running hash of the project in the lane, up to last_seq.
CREATE TABLE log_segments (
    project BIGINT NOT NULL, first_index BIGINT NOT NULL, lane BIGINT NOT NULL,
    first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL, first_pos BIGINT NOT NULL, last_pos BIGINT NOT NULL,
    chain BYTEA NOT NULL,
    PRIMARY KEY (project, first_index)
);
CREATE UNIQUE INDEX log_segments_by_seq ON log_segments (project, lane, first_seq);

-- note: the checkpoint as it was signed.
CREATE TABLE checkpoints (
    project BIGINT NOT NULL, size BIGINT NOT NULL, at BIGINT NOT NULL, root BYTEA NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (project, size)
);

CREATE TABLE cosignatures (
    project BIGINT NOT NULL, size BIGINT NOT NULL, witness TEXT NOT NULL, at BIGINT NOT NULL, line TEXT NOT NULL,
    PRIMARY KEY (project, size, witness)
);
CREATE INDEX cosignatures_of_witness ON cosignatures (project, witness, size);

CREATE TABLE log_keys (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    generation BIGINT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);
