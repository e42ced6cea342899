-- Watches on the heartbeats of long tasks (AAP 12.2): found when they are due, and by the project of running tasks.
CREATE TABLE heartbeats (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, session INTEGER NOT NULL, due INTEGER, open_in INTEGER, until INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (session)
);
CREATE INDEX heartbeats_due ON heartbeats (due) WHERE due IS NOT NULL;
CREATE INDEX heartbeats_open ON heartbeats (open_in) WHERE open_in IS NOT NULL;
CREATE INDEX heartbeats_by_end ON heartbeats (until);

-- Writes that their upstream can undo, and the rollbacks of cancelled sessions (AAP 17.7).
CREATE TABLE reversible_writes (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, session INTEGER NOT NULL, call_id TEXT NOT NULL, until INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, call_id)
);
CREATE INDEX reversible_writes_of_session ON reversible_writes (session);
CREATE INDEX reversible_writes_by_end ON reversible_writes (until);

CREATE TABLE rollbacks (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, session INTEGER NOT NULL, due INTEGER,
    doc TEXT NOT NULL
);
CREATE INDEX rollbacks_of_session ON rollbacks (session);
CREATE INDEX rollbacks_due ON rollbacks (due) WHERE due IS NOT NULL;

-- What the approved calls of a session did is looked up when it is cancelled.
ALTER TABLE executions ADD COLUMN of_session INTEGER;
CREATE INDEX executions_of_session ON executions (of_session) WHERE of_session IS NOT NULL;
