//! Programs of others look at the clock on the wall. A plane that they use must go by the same one.

use crate::{Plane, Setup};
use countersign_engine::Clock;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Moves a plane's clock with the wall's, until dropped.
pub struct KeepsTime(JoinHandle<()>);

impl Setup {
    /// The same, beginning now.
    #[must_use]
    pub fn from_now(self) -> Self {
        Self { now: Clock::System.now(), ..self }
    }
}

impl Plane {
    /// Only where the store has no clock of its own.
    pub fn keeps_time(&self) -> KeepsTime {
        let clock = self.clock.clone();
        KeepsTime(tokio::spawn(async move {
            loop {
                clock.set(Clock::System.now());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }))
    }
}

impl Drop for KeepsTime {
    fn drop(&mut self) {
        self.0.abort();
    }
}
