//! Rate limit: a token bucket that fills continuously (AAEP 5.6.1).

use countersign_protocol::time::UnixMillis;

/// Counts in thousandths of an event: `rate` of them arrive per millisecond, without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    rate: i64,
    /// Negative after events that could not wait (C12).
    level: i64,
    at: UnixMillis,
}

const EVENT: i64 = 1000;

impl Bucket {
    /// Starts full, with one second's worth: at least one event (S9).
    pub(super) fn new(rate: u32, now: UnixMillis) -> Self {
        let rate = i64::from(rate.max(1));
        Self { rate, level: rate * EVENT, at: now }
    }

    /// The same bucket at another rate; consumed budget stays consumed.
    pub(super) fn at_rate(mut self, rate: u32, now: UnixMillis) -> Self {
        self.fill(now);
        let full = Self::new(rate, now);
        Self { level: self.level.min(full.level), ..full }
    }

    pub(super) fn has_token(&mut self, now: UnixMillis) -> bool {
        self.fill(now);
        self.level >= EVENT
    }

    pub(super) fn charge(&mut self, now: UnixMillis) {
        self.fill(now);
        self.level = self.level.saturating_sub(EVENT);
    }

    /// When the next event has budget.
    pub(super) fn ready_at(&self) -> UnixMillis {
        let missing = EVENT.saturating_sub(self.level).max(0);
        self.at.plus_millis(missing.saturating_add(self.rate - 1) / self.rate)
    }

    /// A clock set back neither fills nor stops the bucket.
    fn fill(&mut self, now: UnixMillis) {
        let gained = now.millis_since(self.at).max(0).saturating_mul(self.rate);
        self.level = self.level.saturating_add(gained).min(self.rate * EVENT);
        self.at = now;
    }
}
