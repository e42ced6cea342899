//! Whether the time is reliable enough to decide by: by the monotonic clock, by the store's clock, and by the
//! time that the database keeps.

use crate::{
    engine::Engine,
    node_clock::MOST_MS,
    store::{KeptTime, StoreError},
};
use countersign_core::refusal::Refusal;
use countersign_protocol::time::UnixMillis;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Why nothing is decided at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockFault {
    #[error(
        "this machine's clock leapt {} ({} ms); nothing is decided until it is set right again. If it is right now, \
         `countersign clock accept --reason …` accepts it", direction(*.by_ms), .by_ms.abs()
    )]
    Leapt { by_ms: i64 },
    #[error(
        "this machine's clock is {} ms from the database server's; nothing is decided until they agree: set both by NTP",
        .offset_ms.abs()
    )]
    Apart { offset_ms: i64 },
    #[error(
        "the clock says {}, and the database was used until {}: it was ahead then, or is behind now. Set it right if \
         it is wrong. If it is right, `countersign clock accept --reason …` accepts it",
        .now.to_rfc3339(), .kept.to_rfc3339()
    )]
    Behind { now: UnixMillis, kept: UnixMillis },
}

fn direction(by_ms: i64) -> &'static str {
    if by_ms < 0 { "backwards" } else { "forwards" }
}

impl ClockFault {
    /// Its name in the log, for alerting.
    fn alarm_name(&self) -> &'static str {
        match self {
            Self::Leapt { .. } => "clock_leapt",
            Self::Apart { .. } => "clocks_apart",
            Self::Behind { .. } => "clock_behind",
        }
    }
}

/// A node's state about its time.
pub(crate) struct Timekeeping {
    /// Deadlines before this passed while this node did not decide.
    serving_since: AtomicI64,
    paused: AtomicBool,
    /// How often the clock was accepted, to this node's knowledge.
    accepted: AtomicI64,
    /// The latest time that the database had kept when this node started.
    kept: AtomicI64,
    /// Held while the clock is accepted.
    pub(crate) accepting: tokio::sync::Mutex<()>,
}

impl Timekeeping {
    pub(crate) fn new(since: UnixMillis, kept: KeptTime) -> Self {
        Self {
            serving_since: AtomicI64::new(since.0),
            paused: AtomicBool::new(false),
            accepted: AtomicI64::new(kept.accepted),
            kept: AtomicI64::new(kept.last.0),
            accepting: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn serving_since(&self) -> UnixMillis {
        UnixMillis(self.serving_since.load(Ordering::Relaxed))
    }

    pub(crate) fn accepted(&self) -> i64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(crate) fn set_accepted(&self, accepted: i64) {
        self.accepted.store(accepted, Ordering::Relaxed);
    }

    pub(crate) fn set_serving_since(&self, now: UnixMillis) {
        self.serving_since.store(now.0, Ordering::Relaxed);
    }
}

/// Clock skew between the node and the store. Measured now and then, never by a query per call.
#[derive(Debug, Default)]
pub(crate) struct ClockSkew {
    measured_ms: AtomicI64,
    /// The last tolerable offset: with a larger one the node goes on by this, and decides nothing.
    offset_ms: AtomicI64,
}

impl ClockSkew {
    pub(crate) fn record(&self, offset_ms: i64) {
        self.measured_ms.store(offset_ms, Ordering::Relaxed);
        if offset_ms.abs() <= MOST_MS {
            self.offset_ms.store(offset_ms, Ordering::Relaxed);
        }
    }

    /// The store's clock minus the node's.
    pub(crate) fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    /// The node's clock skew, if it is too large to decide anything.
    pub(crate) fn excessive_ms(&self) -> Option<i64> {
        Some(self.measured_ms.load(Ordering::Relaxed)).filter(|offset| offset.abs() > MOST_MS)
    }
}

impl Engine {
    /// The store's time, estimated without a query. It never leaps.
    pub fn now(&self) -> UnixMillis {
        self.clock.now().plus_millis(self.clock_skew.offset_ms())
    }

    /// The time for decisions.
    pub(crate) fn decision_time(&self) -> Result<UnixMillis, Refusal> {
        self.check_clock()?;
        Ok(self.now())
    }

    /// Refuses everything alike while the clock cannot be trusted, so that no valid credential is refused as expired.
    pub(crate) fn check_clock(&self) -> Result<(), Refusal> {
        let trouble = self.clock_fault();
        let paused = &self.time.paused;
        match trouble {
            Some(trouble) => {
                if !paused.swap(true, Ordering::Relaxed) {
                    tracing::error!(alarm = trouble.alarm_name(), "{trouble}");
                }
                Err(Refusal::Unavailable)
            }
            None => {
                if paused.load(Ordering::Relaxed) && paused.swap(false, Ordering::Relaxed) {
                    // Nobody could answer meanwhile, so no deadline of that time leads to an approval by default.
                    self.time.set_serving_since(self.now());
                    tracing::warn!("the clock is in order again; decisions continue");
                }
                Ok(())
            }
        }
    }

    pub fn clock_fault(&self) -> Option<ClockFault> {
        if let Some(by_ms) = self.clock.leap_ms() {
            return Some(ClockFault::Leapt { by_ms });
        }
        let kept = UnixMillis(self.time.kept.load(Ordering::Relaxed));
        match self.clock_skew.excessive_ms() {
            // A store without its own clock is ahead only because it keeps a later time.
            Some(offset_ms) if !self.store.has_own_clock() => {
                let now = self.clock.wall();
                Some(ClockFault::Behind { now, kept: now.plus_millis(offset_ms) })
            }
            Some(offset_ms) => Some(ClockFault::Apart { offset_ms }),
            None if kept.millis_since(self.now()) > MOST_MS => Some(ClockFault::Behind { now: self.now(), kept }),
            None => None,
        }
    }

    /// Measures this node's clock against the monotonic one and the store's, and checks whether the clock was accepted on
    /// another node. With too much skew the node leaves service.
    pub async fn measure_clock_skew(&self) -> Result<(), StoreError> {
        let kept = self.store.kept_time().await?;
        let store = self.store.now().await?;
        if kept.accepted > self.time.accepted() {
            self.restart_after_acceptance(kept, store);
            if self.store.has_own_clock() && self.clock.wall().millis_since(store).abs() <= MOST_MS {
                let _for_good = self.clock.accept();
            }
        }
        self.clock.measure();
        self.clock_skew.record(store.millis_since(self.clock.now()));
        if self.check_clock().is_ok() {
            self.store.keep_time(self.now()).await?;
        }
        Ok(())
    }

    /// The clock was accepted: a new epoch of nonces begins, and the time kept before counts no more.
    pub(crate) fn restart_after_acceptance(&self, kept: KeptTime, now: UnixMillis) {
        self.time.set_accepted(kept.accepted);
        self.time.kept.store(kept.last.0, Ordering::Relaxed);
        self.proofs.begin_epoch(now, kept.nonces_until);
        self.time.set_serving_since(now);
        // Access tokens issued by a clock that was ahead may have ended with it.
        self.credential_cache.clear();
    }
}
