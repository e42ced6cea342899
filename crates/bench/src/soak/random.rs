//! Seeded randomness: the same seed gives the same load, the same behaviour of the upstream and the same faults.

use std::time::Duration;

/// SplitMix64. Nothing secret depends on it, so it need not be strong.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A separate stream for each `part` of a run.
    pub(super) fn of(seed: u64, part: &str) -> Self {
        let start = part.bytes().fold(seed ^ 0x5eed_0f50_a4c0_ffee, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(start)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end`, without `end`; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.next() % (to.saturating_sub(from) + 1))
    }

    /// One of the choices, in proportion to its weight.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(T, usize)]) -> Option<T> {
        let all = choices.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(all);
        choices.iter().find_map(|(choice, weight)| match left.checked_sub(*weight) {
            None => Some(*choice),
            Some(rest) => {
                left = rest;
                None
            }
        })
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
