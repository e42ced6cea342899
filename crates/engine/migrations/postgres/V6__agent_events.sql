-- AAEP sessions whose agent falls silent are ended, and an event that is sent again is recognised by its id.

ALTER TABLE aaep_sessions ADD COLUMN due BIGINT;
CREATE INDEX aaep_sessions_due ON aaep_sessions (due) WHERE due IS NOT NULL;
UPDATE aaep_sessions SET due = (doc::jsonb ->> 'last_at')::bigint + 3600000
WHERE open_person IS NOT NULL AND NOT (doc::jsonb ->> 'implicit')::boolean
    AND jsonb_array_length(doc::jsonb #> '{state,waiting}') = 0 AND jsonb_array_length(doc::jsonb #> '{state,tools}') = 0;

CREATE TABLE agent_events (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, same BYTEA NOT NULL, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, same)
);
CREATE INDEX agent_events_by_expiry ON agent_events (expires_at);
