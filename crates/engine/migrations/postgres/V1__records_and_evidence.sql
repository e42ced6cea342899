-- Records: (key, version, what is looked up, doc). The columns are listed in src/store/tables.rs.

CREATE TABLE projects (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

-- Every document that was ever in force.
CREATE TABLE project_versions (
    project BIGINT NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (project, version)
);

CREATE TABLE people (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    issuer TEXT NOT NULL, subject TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (issuer, subject)
);

CREATE TABLE memberships (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, person BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, person)
);
CREATE INDEX memberships_of_person ON memberships (person);

CREATE TABLE web_sessions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE, person BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX web_sessions_of_person ON web_sessions (person);
CREATE INDEX web_sessions_by_expiry ON web_sessions (expires_at);

CREATE TABLE connect_requests (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE, project BIGINT NOT NULL, code_hash BYTEA UNIQUE, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX connect_requests_by_expiry ON connect_requests (expires_at);

CREATE TABLE disclosures (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX disclosures_by_expiry ON disclosures (expires_at);

CREATE TABLE delegations (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, person BIGINT NOT NULL, operator TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX delegations_of_person ON delegations (project, person);
CREATE INDEX delegations_of_operator ON delegations (project, operator);

CREATE TABLE sessions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, operator TEXT NOT NULL, session_id TEXT NOT NULL, delegation BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, operator, session_id)
);
CREATE INDEX sessions_of_delegation ON sessions (project, delegation);
CREATE INDEX sessions_by_session_id ON sessions (project, session_id);

CREATE TABLE access_tokens (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    hash BYTEA NOT NULL UNIQUE, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

CREATE TABLE revoked_receipts (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, sha256 BYTEA NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, sha256)
);

CREATE TABLE api_keys (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, hash BYTEA NOT NULL UNIQUE,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);

CREATE TABLE signing_keys (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    kid TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

CREATE TABLE secrets (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    name TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL
);

-- The store's clock, in milliseconds (R-21).

CREATE FUNCTION countersign_now() RETURNS BIGINT LANGUAGE sql VOLATILE
    AS 'SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)';

-- Counters and keys that may be spent once. Rows that change all the time leave room beside them.

CREATE TABLE counts (
    key TEXT COLLATE "C" PRIMARY KEY, value BIGINT NOT NULL, until BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX counts_by_until ON counts (until);

CREATE TABLE once_keys (
    key TEXT COLLATE "C" PRIMARY KEY, until BIGINT NOT NULL
);
CREATE INDEX once_keys_by_until ON once_keys (until);

-- Evidence. A lane is owned by one node at a time, which renews its heartbeat. An entry is keyed by its place
-- in its lane, so each append goes to the end. No further index: one on a random column would make each append
-- dearer the longer the log is.

CREATE TABLE lanes (
    lane BIGINT PRIMARY KEY, owner TEXT NOT NULL, next_pos BIGINT NOT NULL, heartbeat BIGINT NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE lane_heads (
    project BIGINT NOT NULL, lane BIGINT NOT NULL, next_seq BIGINT NOT NULL, chain BYTEA NOT NULL,
    PRIMARY KEY (project, lane)
) WITH (fillfactor = 50);

CREATE TABLE evidence (
    lane BIGINT NOT NULL, pos BIGINT NOT NULL,
    project BIGINT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, event_type TEXT NOT NULL,
    delegation BIGINT, session BIGINT,
    leaf BYTEA NOT NULL, hash BYTEA NOT NULL,
    PRIMARY KEY (lane, pos)
);

-- What the commitments of a leaf hide. A row here may be erased.
CREATE TABLE evidence_openings (
    lane BIGINT NOT NULL, pos BIGINT NOT NULL, openings TEXT NOT NULL,
    PRIMARY KEY (lane, pos)
);

-- kind: 0 by delegation, 1 by session. Filled later, in sorted batches, up to audit_progress.
CREATE TABLE audit_index (
    project BIGINT NOT NULL, kind BIGINT NOT NULL, key BIGINT NOT NULL,
    at BIGINT NOT NULL, lane BIGINT NOT NULL, seq BIGINT NOT NULL,
    pos BIGINT NOT NULL, event_type TEXT NOT NULL,
    PRIMARY KEY (project, kind, key, at, lane, seq)
);

CREATE TABLE audit_progress (lane BIGINT PRIMARY KEY, pos BIGINT NOT NULL);
