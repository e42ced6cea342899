-- The clock as administrators set it right (R-38). One row.
-- last: the latest time that a node decided by, where the database has a clock of its own; accepted: how often the clock
-- was accepted; nonces_until: before that time only proofs with a nonce count.
CREATE TABLE clock (
    key BIGINT PRIMARY KEY, last BIGINT NOT NULL, accepted BIGINT NOT NULL, nonces_until BIGINT NOT NULL
);
INSERT INTO clock (key, last, accepted, nonces_until) VALUES (1, 0, 0, 0);
