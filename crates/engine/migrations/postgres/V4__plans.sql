-- Plans, approval records of others, yeses that cover more than one request, and what is told on.

CREATE TABLE plans (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, principal TEXT NOT NULL, person BIGINT NOT NULL,
    live_delegation BIGINT, live_session BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX plans_of_principal ON plans (project, principal, key);
CREATE INDEX plans_of_person ON plans (project, person, key);
CREATE INDEX plans_of_project ON plans (project, key);
CREATE INDEX plans_live_of_delegation ON plans (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX plans_live_of_session ON plans (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE imported_confirms (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);

-- A document whose words have a zero in them is not JSON to PostgreSQL. Ours to read are only members without
-- backslashes, so these are left out, those that stand for themselves first.
CREATE FUNCTION pg_temp.legible(doc TEXT) RETURNS JSON LANGUAGE sql IMMUTABLE
    AS $$ SELECT CAST(replace(replace(doc, '\\', ''), '\u0000', '') AS JSON) $$;

-- Decisions are paged through by whoever raised them, and by project.

ALTER TABLE decisions ADD COLUMN principal TEXT;
UPDATE decisions SET principal = pg_temp.legible(doc) -> 'raised_by' ->> 'principal';
ALTER TABLE decisions ALTER COLUMN principal SET NOT NULL;
CREATE INDEX decisions_of_principal ON decisions (project, principal, key);
CREATE INDEX decisions_of_project ON decisions (project, key);

-- The approval of a plan allows several things, so a decision may have several allowances. Those of older documents
-- were for one request each, with the lease that their decision names.

ALTER TABLE allowances DROP CONSTRAINT allowances_decision_key,
    ADD COLUMN open_holder BIGINT, ADD COLUMN open_person BIGINT, ADD COLUMN open_decider BIGINT,
    ADD COLUMN open_in BIGINT;
CREATE INDEX allowances_of_decision ON allowances (decision);
CREATE INDEX allowances_open_of_holder ON allowances (project, open_holder) WHERE open_holder IS NOT NULL;
CREATE INDEX allowances_open_of_person ON allowances (project, open_person) WHERE open_person IS NOT NULL;
CREATE INDEX allowances_open_of_decider ON allowances (project, open_decider) WHERE open_decider IS NOT NULL;
CREATE INDEX allowances_open_in ON allowances (open_in) WHERE open_in IS NOT NULL;

-- An unescaped quote cannot stand in a text, so only a member of this name is found by it.
UPDATE allowances SET doc = '{"lease_s":' || (pg_temp.legible(d.doc) -> 'terms' ->> 'lease_s') || ','
        || substr(allowances.doc, 2)
    FROM decisions d WHERE d.key = allowances.decision AND strpos(allowances.doc, '"lease_s":') = 0;
UPDATE executions SET doc = '{"point":"' || (pg_temp.legible(d.doc) ->> 'point') || '","lease_s":'
        || (pg_temp.legible(d.doc) -> 'terms' ->> 'lease_s') || ',' || substr(executions.doc, 2)
    FROM decisions d WHERE d.key = executions.decision AND strpos(executions.doc, '"lease_s":') = 0;

-- Those entries of the log that are told on, by project. The log itself has no index of them.

CREATE TABLE feed (
    project BIGINT NOT NULL, lane BIGINT NOT NULL, pos BIGINT NOT NULL,
    PRIMARY KEY (project, lane, pos)
);
INSERT INTO feed (project, lane, pos)
    SELECT project, lane, pos FROM evidence
    WHERE event_type IN ('decision_raised', 'decision_settled', 'plan_created', 'plan_changed',
        'execution_claimed', 'execution_settled', 'execution_unknown')
    ORDER BY project, lane, pos;
