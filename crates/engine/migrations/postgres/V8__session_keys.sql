-- The keys of sessions: each is good for one, and agents that work on one task have one each.

CREATE TABLE session_keys (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, jkt BYTEA NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, jkt)
);
INSERT INTO session_keys (key, version, project, jkt, doc)
    SELECT max(key), 1, project, jkt, CAST(json_build_object(
        'key', max(key), 'version', 1, 'project', project, 'session', max(key), 'jkt', encode(jkt, 'hex')) AS TEXT)
    FROM sessions WHERE jkt IS NOT NULL GROUP BY project, jkt;

ALTER TABLE sessions DROP COLUMN jkt;
