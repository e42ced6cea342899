-- Delegations end by themselves: the moment, while they last.

ALTER TABLE delegations ADD COLUMN due INTEGER;
UPDATE delegations SET due = json_extract(doc, '$.policy_expires_at') WHERE json_extract(doc, '$.state.is') = 'active';
CREATE INDEX delegations_due ON delegations (due) WHERE due IS NOT NULL;
