-- Requests that wait for a yes, the keys that sessions are bound to, and effects that run once.

CREATE TABLE held_requests (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL,
    doc TEXT NOT NULL
);

ALTER TABLE sessions ADD COLUMN jkt BYTEA;
CREATE INDEX sessions_of_key ON sessions (project, jkt, key) WHERE jkt IS NOT NULL;

ALTER TABLE allowances ADD COLUMN project BIGINT, ADD COLUMN open_digest BYTEA;
UPDATE allowances SET project = CAST(CAST(doc AS JSON) ->> 'project' AS BIGINT);
UPDATE allowances SET open_digest = decode(CAST(doc AS JSON) ->> 'digest', 'hex') WHERE due IS NOT NULL;
ALTER TABLE allowances ALTER COLUMN project SET NOT NULL;
CREATE INDEX allowances_open ON allowances (project, open_digest) WHERE open_digest IS NOT NULL;

ALTER TABLE executions ADD COLUMN live_effect BYTEA;
CREATE UNIQUE INDEX executions_live_effect ON executions (project, live_effect) WHERE live_effect IS NOT NULL;

-- Proofs that are spent. A ring by the time at which they were made, ten minutes a table: what is past is emptied as a
-- whole, so that nothing is ever deleted row by row. Logged, or a crash of the database would forget them.

CREATE TABLE proofs_0 (id BYTEA PRIMARY KEY);
CREATE TABLE proofs_1 (id BYTEA PRIMARY KEY);
CREATE TABLE proofs_2 (id BYTEA PRIMARY KEY);
CREATE TABLE proofs_3 (id BYTEA PRIMARY KEY);
