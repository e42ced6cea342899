-- Which database this is, and since which restore (R-36). One row.
CREATE TABLE epochs (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    database TEXT NOT NULL, number BIGINT NOT NULL,
    doc TEXT NOT NULL
);
WITH made (id) AS MATERIALIZED (SELECT replace(CAST(gen_random_uuid() AS TEXT), '-', ''))
INSERT INTO epochs (key, version, database, number, doc)
SELECT 1, 1, id, 1, CAST(json_build_object('key', 1, 'version', 1, 'database', id, 'number', 1, 'started_at', 0) AS TEXT)
FROM made;

-- How many commits a lane has: whoever acknowledged one knows by this whether it is still there.
ALTER TABLE lanes ADD COLUMN commits BIGINT NOT NULL DEFAULT 0;
