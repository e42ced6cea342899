-- An event that is reported again is recognised by its id, and another event under that id is refused (AAP 8.3).
CREATE TABLE lifecycle_reports (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, same BYTEA NOT NULL, expires_at BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, same)
);
CREATE INDEX lifecycle_reports_by_expiry ON lifecycle_reports (expires_at);
