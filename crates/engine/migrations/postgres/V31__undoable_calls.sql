-- Approved calls that their upstream can undo within their undo window (AAP 14.1).
CREATE TABLE undoable_calls (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, decision BIGINT NOT NULL, call_id TEXT NOT NULL, due BIGINT, open_in BIGINT, until BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, call_id)
);
CREATE INDEX undoable_calls_of_decision ON undoable_calls (decision);
CREATE INDEX undoable_calls_due ON undoable_calls (due) WHERE due IS NOT NULL;
CREATE INDEX undoable_calls_open ON undoable_calls (open_in, key) WHERE open_in IS NOT NULL;
CREATE INDEX undoable_calls_by_end ON undoable_calls (until);
