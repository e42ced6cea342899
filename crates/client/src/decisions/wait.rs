//! Waits for a person by repeated long polls, across restarts of either side. The decision is a record at the service;
//! only the polling is interrupted.

use super::{Decisions, DecisionsError, document, of};
use crate::{aaep::Backoff, transport::Request};
use countersign_protocol::decisions::{DecisionDocument, State};
use std::{sync::PoisonError, time::Duration};

/// The wait of one request. Below the service's limit and the timeouts of many proxies.
const POLL_S: u64 = 50;
/// The extra time allowed for the service's response.
const MARGIN: Duration = Duration::from_secs(8);

impl Decisions {
    /// The decision once it is settled. Lost connections and restarts are retried, for at most `patience`; after that
    /// the error says that it may still be pending.
    pub async fn wait(&self, decision_id: &str, patience: Duration) -> Result<DecisionDocument, DecisionsError> {
        let settled = tokio::time::timeout(patience, self.until_settled(decision_id, patience)).await;
        settled.unwrap_or(Err(DecisionsError::StillPending))
    }

    async fn until_settled(&self, decision_id: &str, patience: Duration) -> Result<DecisionDocument, DecisionsError> {
        let mut backoff = Backoff::default();
        let poll = patience.as_secs().clamp(1, POLL_S);
        loop {
            match self.poll(decision_id, poll).await {
                Ok(decision) if decision.state != State::Pending => return Ok(decision),
                Ok(_) => backoff.reset(),
                Err(why) if why.may_pass() => {
                    let wait = backoff.next(self.chance());
                    tokio::time::sleep(wait).await;
                }
                Err(why) => return Err(why),
            }
        }
    }

    async fn poll(&self, decision_id: &str, seconds: u64) -> Result<DecisionDocument, DecisionsError> {
        let url = self.url(&of(decision_id, &format!("?wait={seconds}")));
        let limit = Duration::from_secs(seconds).saturating_add(MARGIN);
        document(&self.send(Request::get(url), limit).await?)
    }

    fn chance(&self) -> u64 {
        (self.dice.lock().unwrap_or_else(PoisonError::into_inner))()
    }
}
