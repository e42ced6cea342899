//! The client's only source of entropy.

use countersign_protocol::ids;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no randomness")]
pub struct NoRandomness;

/// A session id that cannot be guessed and discloses nothing: fresh for each task, not derived from a user or a time
/// (AAP 13.3, C-51).
pub(crate) fn session_id() -> Result<String, NoRandomness> {
    Ok(ids::prefixed("sess", random()?))
}

/// The `jti` of a proof (AAP 18.3).
pub(crate) fn uuid_v4() -> Result<String, NoRandomness> {
    let random = u128::from_be_bytes(random()?);
    // Version 4 and the variant of RFC 9562 are six fixed bits.
    let uuid = random & !(0xf << 76) & !(0b11 << 62) | (4 << 76) | (0b10 << 62);
    let field = |shift: u32| (uuid >> shift) & 0xffff;
    let node = uuid & 0xffff_ffff_ffff;
    Ok(format!("{:08x}-{:04x}-{:04x}-{:04x}-{node:012x}", uuid >> 96, field(80), field(64), field(48)))
}

#[expect(clippy::disallowed_methods, reason = "the client's one source of randomness")]
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut out = [0; N];
    aws_lc_rs::rand::fill(&mut out).map_err(|_| NoRandomness)?;
    Ok(out)
}
