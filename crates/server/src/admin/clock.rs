//! Requests of `countersign clock`.

use super::{AdminRefusal, AdminRequest};
use countersign_engine::Engine;
use countersign_protocol::time::UnixMillis;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shows the clocks, and whether they are fit for decisions.
#[derive(Serialize, Deserialize)]
pub struct ShowClock {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownClock {
    /// The time that the node uses.
    pub time: UnixMillis,
    pub machine: UnixMillis,
    /// The database server's clock, or the latest time at which a SQLite file was used.
    pub store: UnixMillis,
    /// The reason why nothing is decided.
    pub trouble: Option<String>,
    /// How often a clock was accepted.
    pub accepted: i64,
}

impl AdminRequest for ShowClock {
    const NAME: &'static str = "show-clock";
    type Answer = ShownClock;

    async fn run(self, engine: &Arc<Engine>) -> Result<ShownClock, AdminRefusal> {
        let found = engine.show_clock().await?;
        let trouble = found.trouble.map(|trouble| trouble.to_string());
        let (time, machine, store) = (found.time, found.machine, found.store);
        Ok(ShownClock { time, machine, store, trouble, accepted: found.accepted })
    }
}

/// Continues with the clock as it is now.
#[derive(Serialize, Deserialize)]
pub struct AcceptClock {
    pub reason: String,
}

/// The items that ended with the old clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedClock {
    pub was: UnixMillis,
    pub now: UnixMillis,
    pub approvals: usize,
    pub questions: usize,
    pub claims: usize,
    pub signed_out: bool,
}

impl AdminRequest for AcceptClock {
    const NAME: &'static str = "accept-clock";
    type Answer = AcceptedClock;

    async fn run(self, engine: &Arc<Engine>) -> Result<AcceptedClock, AdminRefusal> {
        let done = engine.accept_clock(&self.reason).await?;
        let (approvals, questions, claims) = (done.ended.approvals, done.ended.questions, done.ended.claims);
        Ok(AcceptedClock { was: done.was, now: done.now, approvals, questions, claims, signed_out: done.signed_out })
    }
}
