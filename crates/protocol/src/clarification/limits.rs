//! How much is too much (W-32).

/// Gaps of one message.
pub const MAX_GAPS: usize = 64;
/// Characters of one text.
pub const MAX_STRING: usize = 16_384;
/// Entries of one chain, those that take no round included.
pub const MAX_ENTRIES: usize = 10_000;
/// Different plans that one session may be about, one after the other.
pub const MAX_PLANS: usize = 32;
/// Seconds by which the time of a signed answer may differ from ours when it is submitted (W-18).
pub const FRESH_S: i64 = 60;
/// Seconds for which a key that was replaced is still accepted (W-20).
pub const GRACE_S: i64 = 86_400;
