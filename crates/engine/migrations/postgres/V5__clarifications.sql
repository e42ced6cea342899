-- Clarification sessions, their chains, and the keys that sign them.

CREATE TABLE clarification_sessions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, same BYTEA NOT NULL, holder BIGINT NOT NULL, open_holder BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX clarification_sessions_same ON clarification_sessions (project, same);
CREATE INDEX clarification_sessions_of_holder ON clarification_sessions (project, holder, key);
CREATE INDEX clarification_sessions_open ON clarification_sessions (project, open_holder) WHERE open_holder IS NOT NULL;

CREATE TABLE clarification_entries (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    session BIGINT NOT NULL, position BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (session, position)
);

CREATE TABLE clarification_keys (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, generation BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, generation)
);
