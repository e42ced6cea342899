-- Plans, approval records of others, yeses that cover more than one request, and what is told on.

CREATE TABLE plans (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, principal TEXT NOT NULL, person INTEGER NOT NULL,
    live_delegation INTEGER, live_session INTEGER,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX plans_of_principal ON plans (project, principal);
CREATE INDEX plans_of_person ON plans (project, person);
CREATE INDEX plans_of_project ON plans (project);
CREATE INDEX plans_live_of_delegation ON plans (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX plans_live_of_session ON plans (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE imported_confirms (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);

-- Decisions are paged through by whoever raised them, and by project.

ALTER TABLE decisions ADD COLUMN principal TEXT NOT NULL DEFAULT '';
UPDATE decisions SET principal = json_extract(doc, '$.raised_by.principal');
CREATE INDEX decisions_of_principal ON decisions (project, principal);
CREATE INDEX decisions_of_project ON decisions (project);

-- The approval of a plan allows several things, so a decision may have several allowances. Those of older documents
-- were for one request each, with the lease that their decision names.

CREATE TABLE bounded_allowances (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    decision INTEGER NOT NULL, due INTEGER, live_delegation INTEGER, live_session INTEGER,
    project INTEGER NOT NULL, open_digest BLOB,
    open_holder INTEGER, open_person INTEGER, open_decider INTEGER, open_in INTEGER,
    doc TEXT NOT NULL
);
INSERT INTO bounded_allowances (key, version, decision, due, live_delegation, live_session, project, open_digest, doc)
    SELECT key, version, decision, due, live_delegation, live_session, project, open_digest, doc FROM allowances;
DROP TABLE allowances;
ALTER TABLE bounded_allowances RENAME TO allowances;
CREATE INDEX allowances_of_decision ON allowances (decision);
CREATE INDEX allowances_due ON allowances (due) WHERE due IS NOT NULL;
CREATE INDEX allowances_live_of_delegation ON allowances (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX allowances_live_of_session ON allowances (live_session) WHERE live_session IS NOT NULL;
CREATE INDEX allowances_open ON allowances (project, open_digest) WHERE open_digest IS NOT NULL;
CREATE INDEX allowances_open_of_holder ON allowances (project, open_holder) WHERE open_holder IS NOT NULL;
CREATE INDEX allowances_open_of_person ON allowances (project, open_person) WHERE open_person IS NOT NULL;
CREATE INDEX allowances_open_of_decider ON allowances (project, open_decider) WHERE open_decider IS NOT NULL;
CREATE INDEX allowances_open_in ON allowances (open_in) WHERE open_in IS NOT NULL;

-- An unescaped quote cannot stand in a text, so only a member of this name is found by it.
UPDATE allowances SET doc = '{"lease_s":' || json_extract(d.doc, '$.terms.lease_s') || ',' || substr(allowances.doc, 2)
    FROM decisions d WHERE d.key = allowances.decision AND instr(allowances.doc, '"lease_s":') = 0;
UPDATE executions SET doc = '{"point":"' || json_extract(d.doc, '$.point') || '","lease_s":'
        || json_extract(d.doc, '$.terms.lease_s') || ',' || substr(executions.doc, 2)
    FROM decisions d WHERE d.key = executions.decision AND instr(executions.doc, '"lease_s":') = 0;

-- Those entries of the log that are told on, by project. The log itself has no index of them.

CREATE TABLE feed (
    project INTEGER NOT NULL, lane INTEGER NOT NULL, pos INTEGER NOT NULL,
    PRIMARY KEY (project, lane, pos)
) WITHOUT ROWID;
INSERT INTO feed (project, lane, pos)
    SELECT project, lane, pos FROM evidence
    WHERE event_type IN ('decision_raised', 'decision_settled', 'plan_created', 'plan_changed',
        'execution_claimed', 'execution_settled', 'execution_unknown')
    ORDER BY project, lane, pos;
