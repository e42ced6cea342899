-- The transparency log: one Merkle tree a project over all its lanes. Batches of entries are sealed in one transaction each,
-- guarded by the version of the only row of log_sealer, so two nodes can never seal one entry twice.

CREATE TABLE log_sealer (key INTEGER PRIMARY KEY, version INTEGER NOT NULL, sealed_at INTEGER NOT NULL);
INSERT INTO log_sealer (key, version, sealed_at) VALUES (1, 0, 0);

-- How far each lane is sealed, over all projects.
CREATE TABLE log_lanes (lane INTEGER PRIMARY KEY, pos INTEGER NOT NULL);

-- edge: the hashes of the incomplete tile of each level, from level 0 up. epoch: in which the log got its name; after a
-- restore it goes on under another one, because entries that others have seen may be lost.
CREATE TABLE logs (
    project INTEGER PRIMARY KEY, origin TEXT NOT NULL, epoch INTEGER NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, edge BLOB NOT NULL
);

-- Complete tiles only: written once.
CREATE TABLE log_tiles (
    project INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT NULL, hashes BLOB NOT NULL,
    PRIMARY KEY (project, level, number)
);

-- The entries of a project in one lane that were sealed together: seq - first_seq + first_index is the index of an entry.
-- chain: the running hash of the project in the lane, up to last_seq.
CREATE TABLE log_segments (
    project INTEGER NOT NULL, first_index INTEGER NOT NULL, lane INTEGER NOT NULL,
    first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, first_pos INTEGER NOT NULL, last_pos INTEGER NOT NULL,
    chain BLOB NOT NULL,
    PRIMARY KEY (project, first_index)
) WITHOUT ROWID;
CREATE UNIQUE INDEX log_segments_by_seq ON log_segments (project, lane, first_seq);

-- note: the checkpoint as it was signed.
CREATE TABLE checkpoints (
    project INTEGER NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (project, size)
) WITHOUT ROWID;

CREATE TABLE cosignatures (
    project INTEGER NOT NULL, size INTEGER NOT NULL, witness TEXT NOT NULL, at INTEGER NOT NULL, line TEXT NOT NULL,
    PRIMARY KEY (project, size, witness)
) WITHOUT ROWID;
CREATE INDEX cosignatures_of_witness ON cosignatures (project, witness, size);

CREATE TABLE log_keys (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    generation INTEGER NOT NULL UNIQUE,
    doc TEXT NOT NULL
);
