-- How far each check of the evidence came.
CREATE TABLE evidence_checks (kind BIGINT PRIMARY KEY, state TEXT NOT NULL);

-- What was decided about erasing a person; at most one row a person.
CREATE TABLE erasures (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    person BIGINT NOT NULL UNIQUE, due BIGINT,
    doc TEXT NOT NULL
);
CREATE INDEX erasures_due ON erasures (due) WHERE due IS NOT NULL;

-- The number of openings that an erasure removed, counted with their removal.
CREATE TABLE erased_openings (
    erasure BIGINT NOT NULL, project BIGINT NOT NULL, openings BIGINT NOT NULL,
    PRIMARY KEY (erasure, project)
);
