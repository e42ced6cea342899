-- Subscriber tokens end with their person's sign-ins, and after 90 days at the latest. Documents are read as text here,
-- because jsonb takes no zero characters; a quote within a string is escaped, so no text of a person's can look like a member.

UPDATE subscriber_tokens SET doc = regexp_replace(
    regexp_replace(doc, '"expires_at":(null|-?[0-9]+)', '"expires_at":' || least(
        coalesce(substring(doc FROM '"expires_at":(-?[0-9]+)')::bigint, 9223372036854775807),
        countersign_now() + 7776000000)),
    '"created_at":', '"generation":' || coalesce(
        (SELECT substring(people.doc FROM '"generation":([0-9]+)') FROM people WHERE people.key = subscriber_tokens.person),
        '0') || ',"created_at":');
