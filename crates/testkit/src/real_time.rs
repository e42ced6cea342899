//! Foreign programs use the system clock. A plane under their test must use the same one.

use crate::{Plane, Setup};
use countersign_engine::Clock;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Keeps a plane's clock equal to the system clock, until dropped.
pub struct KeepsTime(JoinHandle<()>);

impl Setup {
    /// The setup with the current time.
    #[must_use]
    pub fn from_now(self) -> Self {
        Self { now: Clock::System.now(), ..self }
    }
}

impl Plane {
    /// Only for a store without a clock of its own.
    pub fn follow_system_clock(&self) -> KeepsTime {
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
