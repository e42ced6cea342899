//! The clock of this terminal. A node uses its own.

use countersign_protocol::time::UnixMillis;

#[expect(clippy::disallowed_methods, reason = "a subscriber and an agent are other programs than a node, with a clock")]
pub(crate) fn system_now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
