-- The keys of sessions: each is good for one, and agents that work on one task have one each.

CREATE TABLE session_keys (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, jkt BLOB NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, jkt)
);
INSERT INTO session_keys (key, version, project, jkt, doc)
    SELECT max(key), 1, project, jkt, json_object(
        'key', max(key), 'version', 1, 'project', project, 'session', max(key), 'jkt', json_extract(doc, '$.jkt'))
    FROM sessions WHERE jkt IS NOT NULL GROUP BY project, jkt;

DROP INDEX sessions_of_key;
ALTER TABLE sessions DROP COLUMN jkt;
