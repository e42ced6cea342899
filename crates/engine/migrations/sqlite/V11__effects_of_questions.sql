-- Open questions are found by the effect that their approval would let happen: once it has happened, they are superseded.

ALTER TABLE decisions ADD COLUMN open_effect BLOB;
CREATE INDEX decisions_open_of_effect ON decisions (project, open_effect) WHERE open_effect IS NOT NULL;
