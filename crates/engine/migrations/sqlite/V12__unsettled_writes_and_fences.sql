-- Writes that needed no approval and whose outcome is not known (R-34). Settled ones are in no partial index.
CREATE TABLE unsettled_writes (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, call_id TEXT NOT NULL, open_delegation INTEGER, route TEXT NOT NULL, open_same BLOB,
    until INTEGER NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, call_id)
);
CREATE UNIQUE INDEX unsettled_writes_same ON unsettled_writes (open_same) WHERE open_same IS NOT NULL;
CREATE INDEX unsettled_writes_open ON unsettled_writes (open_delegation, route) WHERE open_delegation IS NOT NULL;
CREATE INDEX unsettled_writes_by_end ON unsettled_writes (until);

-- All claims of one effect, or of one digest where there is no effect: each has a higher number than those before (R-35).
ALTER TABLE executions ADD COLUMN fence_of BLOB;
ALTER TABLE executions ADD COLUMN fence INTEGER;
CREATE UNIQUE INDEX executions_by_fence ON executions (project, fence_of, fence) WHERE fence_of IS NOT NULL;
