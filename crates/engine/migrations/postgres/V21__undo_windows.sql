-- Approved calls that are held until their undo window closes are found by when that is, and by their project.

ALTER TABLE allowances ADD COLUMN queued_due BIGINT;
ALTER TABLE allowances ADD COLUMN queued_in BIGINT;
CREATE INDEX allowances_queued_due ON allowances (queued_due) WHERE queued_due IS NOT NULL;
CREATE INDEX allowances_queued_in ON allowances (queued_in) WHERE queued_in IS NOT NULL;
