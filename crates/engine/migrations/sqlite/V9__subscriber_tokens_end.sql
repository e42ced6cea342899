-- Subscriber tokens end with their person's sign-ins, and after 90 days at the latest.

UPDATE subscriber_tokens SET doc = json_set(doc, '$.generation', coalesce(
    (SELECT json_extract(people.doc, '$.generation') FROM people WHERE people.key = subscriber_tokens.person), 0));

UPDATE subscriber_tokens SET doc = json_set(doc, '$.expires_at', min(
    coalesce(json_extract(doc, '$.expires_at'), 9223372036854775807),
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 + 7776000000));
