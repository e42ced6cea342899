//! The bulk statements of a batch. Arrays are unnested in the order of their keys, so that all nodes lock in
//! one order.

use super::proofs::SLOTS;

pub(super) const LANE: &str =
    "SELECT owner, next_pos, countersign_now(), next_news, commits FROM lanes WHERE lane = $1 FOR UPDATE";

/// Queried last, with all locks held: the time, and all signals that a step of this batch can follow.
pub(super) const OTHERS: &str = "SELECT countersign_now(), lane, next_news - 1 FROM lanes";

pub(super) const HEADS: &str = "SELECT project, next_seq, chain FROM lane_heads WHERE lane = $1 AND project = ANY($2)";

/// A new counter is inserted as expired, which equals none.
pub(super) const MAKE_COUNTS: &str = "INSERT INTO counts (key, value, until) \
     SELECT key, 0, 0 FROM unnest($1::text[]) AS wanted (key) ON CONFLICT DO NOTHING";

pub(super) const LOCK_COUNTS: &str = "SELECT key, value, until FROM counts WHERE key = ANY($1) ORDER BY key FOR UPDATE";

/// Returns the keys that this node has taken: new ones, and expired ones.
pub(super) const TAKE_ONCE: &str = "INSERT INTO once_keys (key, until) \
     SELECT key, until FROM unnest($1::text[], $2::bigint[]) AS wanted (key, until) \
     ON CONFLICT (key) DO UPDATE SET until = excluded.until WHERE once_keys.until < countersign_now() \
     RETURNING key";

/// Returns the proofs that this node has taken. A second use of the same proof meets the same row, since its time is
/// signed; a `jti` that is used again with another time is found in the other tables.
pub(super) fn take_proofs(place: usize) -> String {
    let others = (0..SLOTS).filter(|other| *other != place);
    let unknown = others.map(|other| format!(" AND NOT EXISTS (SELECT FROM proofs_{other} WHERE id = new.id)"));
    format!(
        "INSERT INTO proofs_{place} (id) SELECT new.id FROM unnest($1::bytea[]) AS new (id) WHERE TRUE{} \
         ON CONFLICT DO NOTHING RETURNING id",
        unknown.collect::<String>()
    )
}

pub(super) const GIVE_BACK_PROOFS: [&str; SLOTS] = [
    "DELETE FROM proofs_0 WHERE id = ANY($1)",
    "DELETE FROM proofs_1 WHERE id = ANY($1)",
    "DELETE FROM proofs_2 WHERE id = ANY($1)",
    "DELETE FROM proofs_3 WHERE id = ANY($1)",
];

pub(super) const WRITE_COUNTS: &str = "UPDATE counts SET value = new.value, until = new.until \
     FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS new (key, value, until) WHERE counts.key = new.key";

pub(super) const GIVE_BACK_ONCE: &str = "DELETE FROM once_keys WHERE key = ANY($1)";

pub(super) const CORRECT_ONCE: &str = "UPDATE once_keys SET until = new.until \
     FROM unnest($1::text[], $2::bigint[]) AS new (key, until) WHERE once_keys.key = new.key";

pub(super) const EVIDENCE: &str = "INSERT INTO evidence \
     (lane, pos, project, seq, at, event_type, delegation, session, leaf, hash) \
     SELECT $1, new.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], \
     $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[]) AS new";

pub(super) const OPENINGS: &str = "INSERT INTO evidence_openings (lane, pos, openings) \
     SELECT $1, new.* FROM unnest($2::bigint[], $3::text[]) AS new";

pub(super) const FEED: &str = "INSERT INTO feed (lane, project, pos) \
     SELECT $1, new.* FROM unnest($2::bigint[], $3::bigint[]) AS new";

pub(super) const WRITE_HEADS: &str = "INSERT INTO lane_heads (lane, project, next_seq, chain) \
     SELECT $1, new.* FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS new \
     ON CONFLICT (project, lane) DO UPDATE SET next_seq = excluded.next_seq, chain = excluded.chain";

pub(super) const NEWS: &str = "INSERT INTO news (lane, at, pos, doc) \
     SELECT $1, $2, new.* FROM unnest($3::bigint[], $4::text[]) AS new";

pub(super) const WRITE_NEXT_NEWS: &str =
    "UPDATE lanes SET next_news = $1, heartbeat = countersign_now() WHERE lane = $2";

pub(super) const NOTIFY: &str = "SELECT pg_notify('countersign_news', '')";

pub(super) const WRITE_LANE: &str =
    "UPDATE lanes SET next_pos = $1, commits = $2, heartbeat = countersign_now() WHERE lane = $3";
