-- An event that is reported again is recognised by its id, and another event under that id is refused (AAP 8.3).
CREATE TABLE lifecycle_reports (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, same BLOB NOT NULL, expires_at INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, same)
);
CREATE INDEX lifecycle_reports_by_expiry ON lifecycle_reports (expires_at);
