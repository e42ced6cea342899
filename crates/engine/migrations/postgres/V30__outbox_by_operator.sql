-- Due messages are found operator by operator, so that the backlog of one does not hide those of the others. Documents are
-- read as text, because jsonb takes no zero characters; a quote within a string is escaped.

ALTER TABLE outbox_messages ADD COLUMN operator TEXT NOT NULL DEFAULT '';
UPDATE outbox_messages SET operator = substring(doc FROM '"operator":"([^"]+)"');
DROP INDEX outbox_messages_due;
CREATE INDEX outbox_messages_due ON outbox_messages (operator, due, key) WHERE due IS NOT NULL;
