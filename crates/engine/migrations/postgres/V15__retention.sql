-- When a row ended, so that it can be removed some time later. Rows that ended before this migration count from now on.

-- As in the fourth version: a document whose words have a zero in them is not JSON to PostgreSQL.
CREATE OR REPLACE FUNCTION pg_temp.legible(doc TEXT) RETURNS JSON LANGUAGE sql IMMUTABLE
    AS $$ SELECT CAST(replace(replace(doc, '\\', ''), '\u0000', '') AS JSON) $$;

ALTER TABLE decisions ADD COLUMN settled_at BIGINT, ADD COLUMN asked_in BIGINT, ADD COLUMN plan BIGINT;
UPDATE decisions SET asked_in = CAST(pg_temp.legible(doc) ->> 'asked_in' AS BIGINT),
    plan = CAST(pg_temp.legible(doc) -> 'target' ->> 'plan' AS BIGINT);
UPDATE decisions SET settled_at = countersign_now() WHERE due IS NULL;
ALTER TABLE decisions ALTER COLUMN asked_in SET NOT NULL;
CREATE INDEX decisions_by_settlement ON decisions (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX decisions_asked_in ON decisions (asked_in);
CREATE INDEX decisions_of_plan ON decisions (plan) WHERE plan IS NOT NULL;

-- Executions are removed with their decision, so this needs no index.
ALTER TABLE executions ADD COLUMN ended_at BIGINT;
UPDATE executions SET ended_at = countersign_now() WHERE open_digest IS NULL;

ALTER TABLE aaep_sessions ADD COLUMN ended_at BIGINT;
UPDATE aaep_sessions SET ended_at = countersign_now() WHERE open_person IS NULL;
CREATE INDEX aaep_sessions_by_end ON aaep_sessions (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE delegations ADD COLUMN ended_at BIGINT;
UPDATE delegations SET ended_at = countersign_now()
WHERE pg_temp.legible(doc) -> 'state' ->> 'is' IN ('revoked', 'auto_revoked');
CREATE INDEX delegations_by_end ON delegations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_without_delegation ON sessions (key) WHERE delegation IS NULL;

ALTER TABLE plans ADD COLUMN ended_at BIGINT;
UPDATE plans SET ended_at = countersign_now()
WHERE pg_temp.legible(doc) -> 'document' ->> 'status' IN ('completed', 'failed', 'cancelled');
CREATE INDEX plans_by_end ON plans (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE clarification_sessions ADD COLUMN ended_at BIGINT NOT NULL DEFAULT 0;
UPDATE clarification_sessions
SET ended_at = greatest(countersign_now(), CAST(pg_temp.legible(doc) ->> 'expires_at' AS BIGINT));
CREATE INDEX clarification_sessions_by_end ON clarification_sessions (ended_at);

-- How far the log was gone through, for each thing that is removed along it.
CREATE TABLE retention_progress (
    kind BIGINT NOT NULL, lane BIGINT NOT NULL, pos BIGINT NOT NULL,
    PRIMARY KEY (kind, lane)
);
