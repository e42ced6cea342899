//! Limits (W-32).

/// Gaps of one message.
pub const MAX_GAPS: usize = 64;
/// Characters of one text.
pub const MAX_STRING: usize = 16_384;
/// Entries of one chain, including those that are no round.
pub const MAX_ENTRIES: usize = 10_000;
/// Different plans submitted in one session.
pub const MAX_PLANS: usize = 32;
/// The tolerated difference in seconds between a signed answer's time and ours on submission (W-18).
pub const FRESH_S: i64 = 60;
/// Seconds for which a replaced key is still accepted (W-20).
pub const GRACE_S: i64 = 86_400;
