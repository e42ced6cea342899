-- Requests that wait for a yes, the keys that sessions are bound to, and effects that run once. Proofs that are spent
-- are remembered by the one process that there is.

CREATE TABLE held_requests (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL,
    doc TEXT NOT NULL
);

ALTER TABLE sessions ADD COLUMN jkt BLOB;
CREATE INDEX sessions_of_key ON sessions (project, jkt) WHERE jkt IS NOT NULL;

ALTER TABLE allowances ADD COLUMN project INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allowances ADD COLUMN open_digest BLOB;
UPDATE allowances SET project = json_extract(doc, '$.project');
UPDATE allowances SET open_digest = unhex(json_extract(doc, '$.digest')) WHERE due IS NOT NULL;
CREATE INDEX allowances_open ON allowances (project, open_digest) WHERE open_digest IS NOT NULL;

ALTER TABLE executions ADD COLUMN live_effect BLOB;
CREATE UNIQUE INDEX executions_live_effect ON executions (project, live_effect) WHERE live_effect IS NOT NULL;
