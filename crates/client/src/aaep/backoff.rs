//! Backoff between attempts: 1, 2, 4 and up to 30 seconds, with jitter, so that all clients of a lost server do not
//! return at the same moment.

use std::time::Duration;

const LONGEST_S: u64 = 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The delay after one more failure. Up to a quarter is added, by `chance`.
    pub fn next(&mut self, chance: u64) -> Duration {
        let seconds = 1_u64.checked_shl(self.failures).unwrap_or(LONGEST_S).clamp(1, LONGEST_S);
        self.failures = self.failures.saturating_add(1).min(32);
        Duration::from_millis(seconds * 1000 + chance % (seconds * 250 + 1))
    }

    /// Resets after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// The source of entropy: the system, or a test.
pub type Dice = Box<dyn FnMut() -> u64 + Send>;

/// Entropy from the system. Without it there is no jitter, which affects only the server.
pub fn system_dice() -> Dice {
    Box::new(|| crate::entropy::random::<8>().map_or(0, u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_half_a_minute_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..7).map(|_| backoff.next(0).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        (0..100).for_each(|_| assert!(backoff.next(0).as_secs() == 30));
        backoff.reset();
        assert_eq!(backoff.next(0).as_secs(), 1);
    }

    #[test]
    fn chance_adds_at_most_a_quarter_and_never_takes_away() {
        for chance in [1, 250, 251, 999, u64::MAX, 12345] {
            let wait = Backoff { failures: 3 }.next(chance).as_millis();
            assert!((8000..=10_000).contains(&wait), "{wait}");
        }
        assert_ne!(Backoff { failures: 3 }.next(1), Backoff { failures: 3 }.next(2));
    }
}
