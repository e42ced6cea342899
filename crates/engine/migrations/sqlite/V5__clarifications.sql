-- Clarification sessions, their chains, and the keys that sign them.

CREATE TABLE clarification_sessions (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, same BLOB NOT NULL, holder INTEGER NOT NULL, open_holder INTEGER,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX clarification_sessions_same ON clarification_sessions (project, same);
CREATE INDEX clarification_sessions_of_holder ON clarification_sessions (project, holder, key);
CREATE INDEX clarification_sessions_open ON clarification_sessions (project, open_holder) WHERE open_holder IS NOT NULL;

CREATE TABLE clarification_entries (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    session INTEGER NOT NULL, position INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (session, position)
);

CREATE TABLE clarification_keys (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, generation INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, generation)
);
