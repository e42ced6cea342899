-- Messages to operators' webhooks, written with the revocation they report (AAP 17.8). Only pending ones are due.
CREATE TABLE outbox_messages (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, delegation INTEGER NOT NULL, open_delegation INTEGER, due INTEGER,
    dead_in INTEGER,
    doc TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE INDEX outbox_messages_of_delegation ON outbox_messages (delegation);
CREATE INDEX outbox_messages_open ON outbox_messages (open_delegation) WHERE open_delegation IS NOT NULL;
CREATE INDEX outbox_messages_due ON outbox_messages (due) WHERE due IS NOT NULL;
CREATE INDEX outbox_messages_dead ON outbox_messages (dead_in, key) WHERE dead_in IS NOT NULL;
CREATE INDEX outbox_messages_in ON outbox_messages (project, key);

-- The sealed webhook secrets of each operator in each project.
CREATE TABLE webhook_enrolments (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, operator TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, operator)
);
