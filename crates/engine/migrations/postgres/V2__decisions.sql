-- Decisions, what they allow, each use of that, and those who are told. A column that is only filled while a row is
-- open has an index of what is open: it does not grow with what is settled.

CREATE TABLE decisions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, reply_hash BYTEA NOT NULL UNIQUE,
    open_same BYTEA, asks TEXT, due BIGINT, live_delegation BIGINT, live_session BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE UNIQUE INDEX decisions_open_same ON decisions (project, open_same) WHERE open_same IS NOT NULL;
CREATE INDEX decisions_asking ON decisions (project, asks) WHERE asks IS NOT NULL;
CREATE INDEX decisions_due ON decisions (due) WHERE due IS NOT NULL;
CREATE INDEX decisions_live_of_delegation ON decisions (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX decisions_live_of_session ON decisions (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE allowances (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    decision BIGINT NOT NULL UNIQUE, due BIGINT, live_delegation BIGINT, live_session BIGINT,
    doc TEXT NOT NULL
);
CREATE INDEX allowances_due ON allowances (due) WHERE due IS NOT NULL;
CREATE INDEX allowances_live_of_delegation ON allowances (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX allowances_live_of_session ON allowances (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE executions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, decision BIGINT NOT NULL,
    open_digest BYTEA, done_digest BYTEA, unknown_in BIGINT, due BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE UNIQUE INDEX executions_under_way ON executions (project, open_digest) WHERE open_digest IS NOT NULL;
CREATE INDEX executions_of_decision ON executions (decision);
CREATE INDEX executions_done ON executions (project, done_digest) WHERE done_digest IS NOT NULL;
CREATE INDEX executions_unknown ON executions (unknown_in) WHERE unknown_in IS NOT NULL;
CREATE INDEX executions_due ON executions (due) WHERE due IS NOT NULL;

CREATE TABLE aaep_sessions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, open_person BIGINT, live_delegation BIGINT, live_session BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX aaep_sessions_open_of_person ON aaep_sessions (project, open_person) WHERE open_person IS NOT NULL;
CREATE INDEX aaep_sessions_live_of_delegation ON aaep_sessions (live_delegation) WHERE live_delegation IS NOT NULL;
CREATE INDEX aaep_sessions_live_of_session ON aaep_sessions (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE subscriptions (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, open_person BIGINT, expires_at BIGINT,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX subscriptions_open_of_person ON subscriptions (project, open_person) WHERE open_person IS NOT NULL;
CREATE INDEX subscriptions_by_expiry ON subscriptions (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE subscriber_tokens (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, hash BYTEA NOT NULL UNIQUE, person BIGINT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX subscriber_tokens_of_person ON subscriber_tokens (project, person);

-- News on its way to the other nodes. A place in its lane, without a hole, so that a reader knows how far it came;
-- removed after minutes.

ALTER TABLE lanes ADD COLUMN next_news BIGINT NOT NULL DEFAULT 1;

CREATE TABLE news (
    lane BIGINT NOT NULL, pos BIGINT NOT NULL, at BIGINT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (lane, pos)
);
CREATE INDEX news_by_age ON news (at);
