-- Records: (key, version, what is looked up, doc). The columns are listed in src/store/tables.rs.

CREATE TABLE projects (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

-- Every document that was ever in force.
CREATE TABLE project_versions (
    project INTEGER NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (project, version)
);

CREATE TABLE people (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    issuer TEXT NOT NULL, subject TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (issuer, subject)
);

CREATE TABLE memberships (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, person INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, person)
);
CREATE INDEX memberships_of_person ON memberships (person);

CREATE TABLE web_sessions (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    token_hash BLOB NOT NULL UNIQUE, person INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX web_sessions_of_person ON web_sessions (person);
CREATE INDEX web_sessions_by_expiry ON web_sessions (expires_at);

CREATE TABLE connect_requests (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE, project INTEGER NOT NULL, code_hash BLOB UNIQUE, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX connect_requests_by_expiry ON connect_requests (expires_at);

CREATE TABLE disclosures (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX disclosures_by_expiry ON disclosures (expires_at);

CREATE TABLE delegations (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, person INTEGER NOT NULL, operator TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX delegations_of_person ON delegations (project, person);
CREATE INDEX delegations_of_operator ON delegations (project, operator);

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, operator TEXT NOT NULL, session_id TEXT NOT NULL, delegation INTEGER,
    doc TEXT NOT NULL,
    UNIQUE (project, operator, session_id)
);
CREATE INDEX sessions_of_delegation ON sessions (project, delegation);
CREATE INDEX sessions_by_session_id ON sessions (project, session_id);

CREATE TABLE access_tokens (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    hash BLOB NOT NULL UNIQUE, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

CREATE TABLE revoked_receipts (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, sha256 BLOB NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, sha256)
);

CREATE TABLE api_keys (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);

CREATE TABLE signing_keys (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    kid TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

CREATE TABLE secrets (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    name TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

-- Counters and keys that may be spent once.

CREATE TABLE counts (
    key TEXT PRIMARY KEY, value INTEGER NOT NULL, until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX counts_by_until ON counts (until);

CREATE TABLE once_keys (
    key TEXT PRIMARY KEY, until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX once_keys_by_until ON once_keys (until);

-- Evidence. There is one lane here, so the position alone is the key and every append goes to the end of the
-- table. No further index: one on a random column would make each append dearer the longer the log is.

CREATE TABLE lanes (
    lane INTEGER PRIMARY KEY, owner TEXT NOT NULL, next_pos INTEGER NOT NULL, heartbeat INTEGER NOT NULL
);
INSERT INTO lanes (lane, owner, next_pos, heartbeat) VALUES (0, 'this file', 1, 0);

CREATE TABLE lane_heads (
    project INTEGER NOT NULL, lane INTEGER NOT NULL, next_seq INTEGER NOT NULL, chain BLOB NOT NULL,
    PRIMARY KEY (project, lane)
) WITHOUT ROWID;

CREATE TABLE evidence (
    pos INTEGER PRIMARY KEY, lane INTEGER NOT NULL,
    project INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, event_type TEXT NOT NULL,
    delegation INTEGER, session INTEGER,
    leaf BLOB NOT NULL, hash BLOB NOT NULL
);

-- What the commitments of a leaf hide. A row here may be erased.
CREATE TABLE evidence_openings (
    pos INTEGER PRIMARY KEY, lane INTEGER NOT NULL, openings TEXT NOT NULL
);

-- kind: 0 by delegation, 1 by session. Filled later, in sorted batches, up to audit_progress.
CREATE TABLE audit_index (
    project INTEGER NOT NULL, kind INTEGER NOT NULL, key INTEGER NOT NULL,
    at INTEGER NOT NULL, lane INTEGER NOT NULL, seq INTEGER NOT NULL,
    pos INTEGER NOT NULL, event_type TEXT NOT NULL,
    PRIMARY KEY (project, kind, key, at, lane, seq)
) WITHOUT ROWID;

CREATE TABLE audit_progress (lane INTEGER PRIMARY KEY, pos INTEGER NOT NULL);
INSERT INTO audit_progress (lane, pos) VALUES (0, 0);
