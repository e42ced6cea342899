-- Executions whose upstream is asked whether they were carried out are found by when that is due.

ALTER TABLE executions ADD COLUMN probe_due INTEGER;
CREATE INDEX executions_probe_due ON executions (probe_due) WHERE probe_due IS NOT NULL;
