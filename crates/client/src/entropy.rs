//! The client's one place that asks the system for randomness.

use countersign_protocol::ids;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no randomness")]
pub struct NoRandomness;

/// A session id that nobody can guess and that says nothing about anybody: fresh for each task, not derived
/// from a user or a time (AAP 13.3, C-51).
pub(crate) fn session_id() -> Result<String, NoRandomness> {
    Ok(ids::prefixed("sess", random()?))
}

#[expect(clippy::disallowed_methods, reason = "the client's one source of randomness")]
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut out = [0; N];
    aws_lc_rs::rand::fill(&mut out).map_err(|_| NoRandomness)?;
    Ok(out)
}
