-- Delegations end by themselves: the moment, while they last.

ALTER TABLE delegations ADD COLUMN due BIGINT;
UPDATE delegations SET due = CAST(CAST(doc AS JSON) ->> 'policy_expires_at' AS BIGINT) WHERE CAST(doc AS JSON) -> 'state' ->> 'is' = 'active';
CREATE INDEX delegations_due ON delegations (due) WHERE due IS NOT NULL;
