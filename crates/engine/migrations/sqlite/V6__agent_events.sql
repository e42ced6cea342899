-- AAEP sessions whose agent falls silent are ended, and an event that is sent again is recognised by its id.

ALTER TABLE aaep_sessions ADD COLUMN due INTEGER;
CREATE INDEX aaep_sessions_due ON aaep_sessions (due) WHERE due IS NOT NULL;
UPDATE aaep_sessions SET due = json_extract(doc, '$.last_at') + 3600000
WHERE open_person IS NOT NULL AND NOT json_extract(doc, '$.implicit')
    AND json_array_length(doc, '$.state.waiting') = 0 AND json_array_length(doc, '$.state.tools') = 0;

CREATE TABLE agent_events (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, same BLOB NOT NULL, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, same)
);
CREATE INDEX agent_events_by_expiry ON agent_events (expires_at);
