-- When a row ended, so that it can be removed some time later. Rows that ended before this migration count from now on.

ALTER TABLE decisions ADD COLUMN settled_at INTEGER;
ALTER TABLE decisions ADD COLUMN asked_in INTEGER NOT NULL DEFAULT 0;
ALTER TABLE decisions ADD COLUMN plan INTEGER;
UPDATE decisions SET asked_in = json_extract(doc, '$.asked_in'), plan = json_extract(doc, '$.target.plan');
UPDATE decisions SET settled_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000 WHERE due IS NULL;
CREATE INDEX decisions_by_settlement ON decisions (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX decisions_asked_in ON decisions (asked_in);
CREATE INDEX decisions_of_plan ON decisions (plan) WHERE plan IS NOT NULL;

-- Executions are removed with their decision, so this needs no index.
ALTER TABLE executions ADD COLUMN ended_at INTEGER;
UPDATE executions SET ended_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000 WHERE open_digest IS NULL;

ALTER TABLE aaep_sessions ADD COLUMN ended_at INTEGER;
UPDATE aaep_sessions SET ended_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000 WHERE open_person IS NULL;
CREATE INDEX aaep_sessions_by_end ON aaep_sessions (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE delegations ADD COLUMN ended_at INTEGER;
UPDATE delegations SET ended_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000
WHERE json_extract(doc, '$.state.is') IN ('revoked', 'auto_revoked');
CREATE INDEX delegations_by_end ON delegations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_without_delegation ON sessions (key) WHERE delegation IS NULL;

ALTER TABLE plans ADD COLUMN ended_at INTEGER;
UPDATE plans SET ended_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000
WHERE json_extract(doc, '$.document.status') IN ('completed', 'failed', 'cancelled');
CREATE INDEX plans_by_end ON plans (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE clarification_sessions ADD COLUMN ended_at INTEGER NOT NULL DEFAULT 0;
UPDATE clarification_sessions
SET ended_at = max(CAST(strftime('%s', 'now') AS INTEGER) * 1000, json_extract(doc, '$.expires_at'));
CREATE INDEX clarification_sessions_by_end ON clarification_sessions (ended_at);

-- How far the log was gone through, for each thing that is removed along it.
CREATE TABLE retention_progress (
    kind INTEGER NOT NULL, lane INTEGER NOT NULL, pos INTEGER NOT NULL,
    PRIMARY KEY (kind, lane)
) WITHOUT ROWID;
