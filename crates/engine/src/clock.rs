//! The node's clocks, read only here: the time of day, and a monotonic one that cannot be set.

use countersign_protocol::time::UnixMillis;
use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

/// Readings of the two clocks that are further apart than this are not compared.
const TOGETHER_MS: i64 = 100;
const READINGS: usize = 8;

/// The system's clocks, or ones that tests move by hand.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    pub fn now(&self) -> UnixMillis {
        match self {
            Self::System => system_now(),
            Self::Manual(clock) => clock.now(),
        }
    }

    /// Milliseconds of a clock that cannot be set; only differences are meaningful. It may stand still while the machine is
    /// suspended.
    pub fn monotonic_ms(&self) -> i64 {
        match self {
            Self::System => system_monotonic_ms(),
            Self::Manual(clock) => clock.monotonic_ms(),
        }
    }

    /// How long the machine was suspended, from an unknown beginning on: the time that the monotonic clock did not count. None
    /// where the system does not tell.
    pub(crate) fn suspended_ms(&self) -> Option<i64> {
        match self {
            Self::System => Some(uptime_ms()? - system_monotonic_ms()),
            Self::Manual(clock) => Some(clock.hands().suspended),
        }
    }

    /// The time and the monotonic clock at one moment.
    pub(crate) fn both(&self) -> (i64, i64) {
        match self {
            Self::System => system_both(),
            Self::Manual(clock) => {
                let hands = clock.hands();
                (hands.now, hands.monotonic)
            }
        }
    }
}

/// A thread that was interrupted between the two readings repeats them.
fn system_both() -> (i64, i64) {
    let (mut before, mut now) = (system_monotonic_ms(), system_now().0);
    for _ in 0..READINGS {
        let after = system_monotonic_ms();
        if after - before <= TOGETHER_MS {
            break;
        }
        (before, now) = (after, system_now().0);
    }
    (now, before)
}

#[expect(clippy::disallowed_methods, reason = "the one place where the node reads its clock")]
fn system_now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the one place where the node reads its monotonic clock")]
fn system_monotonic_ms() -> i64 {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    let beginning = *BEGINNING.get_or_init(Instant::now);
    i64::try_from(Instant::now().saturating_duration_since(beginning).as_millis()).unwrap_or(i64::MAX)
}

/// Time since the machine was started, including suspension.
fn uptime_ms() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let (whole, rest) = text.split_whitespace().next()?.split_once('.')?;
    let hundredths: i64 = rest.get(..2)?.parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(hundredths * 10)
}

/// For spans of real time, unaffected by clock settings and by tests.
#[expect(clippy::disallowed_methods, reason = "the one place where the node reads its clock")]
pub(crate) fn monotonic() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Hands>>);

#[derive(Debug)]
struct Hands {
    now: i64,
    monotonic: i64,
    suspended: i64,
}

impl ManualClock {
    pub fn at(now: UnixMillis) -> Self {
        Self(Arc::new(Mutex::new(Hands { now: now.0, monotonic: 0, suspended: 0 })))
    }

    pub fn now(&self) -> UnixMillis {
        UnixMillis(self.hands().now)
    }

    pub fn monotonic_ms(&self) -> i64 {
        self.hands().monotonic
    }

    pub fn advance_secs(&self, secs: i64) {
        self.advance_millis(secs.saturating_mul(1000));
    }

    /// Time passes.
    pub fn advance_millis(&self, millis: i64) {
        self.hands().pass(millis);
    }

    /// Time passes until then.
    pub fn set(&self, now: UnixMillis) {
        let mut hands = self.hands();
        let millis = now.0 - hands.now;
        hands.pass(millis);
    }

    /// Sets the clock: no time passes.
    pub fn leap_millis(&self, millis: i64) {
        self.hands().now += millis;
    }

    /// The machine is suspended, and resumes.
    pub fn suspend_millis(&self, millis: i64) {
        let mut hands = self.hands();
        hands.now += millis;
        hands.suspended += millis;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hands {
    fn pass(&mut self, millis: i64) {
        self.now += millis;
        self.monotonic += millis;
    }
}
