-- Which database this is, and since which restore (R-36). One row.
CREATE TABLE epochs (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    database TEXT NOT NULL, number INTEGER NOT NULL,
    doc TEXT NOT NULL
);
WITH made (id) AS MATERIALIZED (SELECT lower(hex(randomblob(16))))
INSERT INTO epochs (key, version, database, number, doc)
SELECT 1, 1, id, 1, json_object('key', 1, 'version', 1, 'database', id, 'number', 1, 'started_at', 0) FROM made;

-- How many commits a lane has: whoever acknowledged one knows by this whether it is still there.
ALTER TABLE lanes ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
