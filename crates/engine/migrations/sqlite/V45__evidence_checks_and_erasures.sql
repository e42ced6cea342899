-- How far each check of the evidence came.
CREATE TABLE evidence_checks (kind INTEGER PRIMARY KEY, state TEXT NOT NULL);

-- What was decided about erasing a person; at most one row a person.
CREATE TABLE erasures (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    person INTEGER NOT NULL UNIQUE, due INTEGER,
    doc TEXT NOT NULL
);
CREATE INDEX erasures_due ON erasures (due) WHERE due IS NOT NULL;

-- The number of openings that an erasure removed, counted with their removal.
CREATE TABLE erased_openings (
    erasure INTEGER NOT NULL, project INTEGER NOT NULL, openings INTEGER NOT NULL,
    PRIMARY KEY (erasure, project)
) WITHOUT ROWID;
