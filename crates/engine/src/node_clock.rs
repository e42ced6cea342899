//! The node's time: its clock, as long as that agrees with the monotonic one.
//!
//! A clock that is set leaps; time does not. While the two disagree, time goes on by the monotonic clock, so nothing
//! expires, is swept or is stored by the leap; and nothing is decided, since either of the two may be right.

use crate::clock::Clock;
use countersign_protocol::time::UnixMillis;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicI64, Ordering},
};

/// More than this is a leap.
pub(crate) const MOST_MS: i64 = 1000;
/// Between two readings the clock may be corrected by this part of the time that passed. A faster correction adds up to a
/// leap.
const CORRECTED: i64 = 10;
/// Smaller differences come from the grain of the system's counters and are no suspension.
const SUSPENDED_MS: i64 = 500;

/// Shared by a node's engine and its store.
#[derive(Clone, Debug)]
pub struct NodeClock(Arc<ClockState>);

#[derive(Debug)]
struct ClockState {
    source: Clock,
    /// The difference between the time and the monotonic clock.
    basis: AtomicI64,
    measured: Mutex<Measured>,
}

/// At the last measurement.
#[derive(Debug)]
struct Measured {
    monotonic: i64,
    suspended: Option<i64>,
}

/// The basis before a change, to restore it by.
#[must_use]
#[derive(Debug)]
pub(crate) struct Basis(i64);

impl From<Clock> for NodeClock {
    fn from(source: Clock) -> Self {
        let (now, monotonic) = source.both();
        let measured = Mutex::new(Measured { monotonic, suspended: source.suspended_ms() });
        Self(Arc::new(ClockState { basis: AtomicI64::new(now - monotonic), measured, source }))
    }
}

impl NodeClock {
    pub fn now(&self) -> UnixMillis {
        let (now, monotonic) = self.0.source.both();
        match self.leap_between(now, monotonic) {
            0 => UnixMillis(now),
            _ => UnixMillis(monotonic.saturating_add(self.basis())),
        }
    }

    pub fn monotonic_ms(&self) -> i64 {
        self.0.source.monotonic_ms()
    }

    /// The machine's clock, right or wrong.
    pub fn wall(&self) -> UnixMillis {
        self.0.source.now()
    }

    /// The size of the clock's leap; negative for a leap backwards.
    pub fn leap_ms(&self) -> Option<i64> {
        let (now, monotonic) = self.0.source.both();
        Some(self.leap_between(now, monotonic)).filter(|leap| *leap != 0)
    }

    /// Follows small corrections made in small steps. To be called every few seconds.
    pub(crate) fn measure(&self) {
        let (now, monotonic) = self.0.source.both();
        if self.leap_between(now, monotonic) != 0 {
            return;
        }
        let mut measured = self.measured();
        let room = (monotonic - measured.monotonic).max(0) / CORRECTED;
        measured.monotonic = monotonic;
        let step = (now - monotonic - self.basis()).clamp(-room, room);
        self.0.basis.fetch_add(step, Ordering::Relaxed);
    }

    /// From here on the machine's clock is right. Returns the previous basis, for [`Self::take_back`].
    pub(crate) fn accept(&self) -> Basis {
        let mut measured = self.measured();
        let (now, monotonic) = self.0.source.both();
        *measured = Measured { monotonic, suspended: self.0.source.suspended_ms() };
        Basis(self.0.basis.swap(now - monotonic, Ordering::Relaxed))
    }

    pub(crate) fn restore_basis(&self, before: Basis) {
        self.0.basis.store(before.0, Ordering::Relaxed);
    }

    /// 0 without a leap.
    fn leap_between(&self, now: i64, monotonic: i64) -> i64 {
        let leap = || now.saturating_sub(monotonic).saturating_sub(self.basis());
        if leap().abs() <= MOST_MS {
            return 0;
        }
        self.count_suspension();
        match leap() {
            leap if leap.abs() <= MOST_MS => 0,
            leap => leap,
        }
    }

    /// Time in suspension counts as time that passed.
    fn count_suspension(&self) {
        let mut measured = self.measured();
        let (Some(before), Some(now)) = (measured.suspended, self.0.source.suspended_ms()) else { return };
        let slept = now - before;
        if slept.abs() > SUSPENDED_MS {
            measured.suspended = Some(now);
            self.0.basis.fetch_add(slept, Ordering::Relaxed);
        }
    }

    fn basis(&self) -> i64 {
        self.0.basis.load(Ordering::Relaxed)
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.0.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
