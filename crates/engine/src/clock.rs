//! The node's clock, read in this one place.

use countersign_protocol::time::UnixMillis;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// The system's clock, or one that tests move by hand.
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
}

#[expect(clippy::disallowed_methods, reason = "the one place where the node reads its clock")]
fn system_now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub fn at(now: UnixMillis) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    pub fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }

    pub fn advance_secs(&self, secs: i64) {
        self.0.fetch_add(secs.saturating_mul(1000), Ordering::SeqCst);
    }

    pub fn advance_millis(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub fn set(&self, now: UnixMillis) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}
