-- Requests for scopes are found by the session that they would expand, and expanded sessions by project and person.

ALTER TABLE decisions ADD COLUMN expands INTEGER;
CREATE INDEX decisions_expands ON decisions (expands) WHERE expands IS NOT NULL;
ALTER TABLE sessions ADD COLUMN expanded_in INTEGER;
ALTER TABLE sessions ADD COLUMN expanded_for TEXT;
CREATE INDEX sessions_expanded ON sessions (expanded_in, expanded_for) WHERE expanded_in IS NOT NULL;
