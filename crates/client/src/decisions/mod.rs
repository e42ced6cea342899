//! For agents without a gateway in front of their actions: ask a person, wait, claim, report; and publish AAEP events.
//! Nothing here decides whether a call may run: [`Decisions::claim`] asks the service, every time.

mod error;
mod speak;
mod wait;

pub use crate::door::ClientClock;
pub use error::DecisionsError;
pub use speak::PublishResult;

use crate::{
    aaep::Dice,
    agent::ServiceRefusal,
    door::Door,
    transport::{Request, Response, Transport},
};
use countersign_jose::ProofKey;
use countersign_protocol::{
    decisions::{
        ClaimRequest, ClarificationRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest, WithdrawRequest,
    },
    ids::ProjectId,
    origin::Origin,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The service's decision API for one agent: by its API key (`csk_…`) or an AAP access token.
pub struct Decisions {
    door: Door,
    dice: Mutex<Dice>,
}

impl Decisions {
    pub fn new(
        service: &Origin,
        project: Option<&ProjectId>,
        credential: &str,
        transport: Arc<dyn Transport>,
        dice: Dice,
    ) -> Self {
        Self { door: Door::new(service, project, credential, transport), dice: Mutex::new(dice) }
    }

    /// With a credential bound to this key (AAP 13.1).
    pub fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { door: self.door.bound_to(key, clock), ..self }
    }

    /// Requests a confirmation. A pending request is not raised twice.
    pub async fn ask(&self, question: &ConfirmationRequest) -> Result<DecisionDocument, DecisionsError> {
        self.post("/v1/confirmations", question).await
    }

    /// Requests a clarification.
    pub async fn ask_to_clarify(&self, question: &ClarificationRequest) -> Result<DecisionDocument, DecisionsError> {
        self.post("/v1/clarifications", question).await
    }

    /// Reads the decision.
    pub async fn look(&self, decision_id: &str) -> Result<DecisionDocument, DecisionsError> {
        document(&self.send(Request::get(self.url(&of(decision_id, ""))), TIME_LIMIT).await?)
    }

    /// Claims an approval for exactly this call. Only after `Ok` may it run, once; on any error it must not. It is
    /// never retried automatically: [`Self::look`] shows whether a claim with a lost response is held.
    pub async fn claim(&self, decision_id: &str, what: &ClaimRequest) -> Result<DecisionDocument, DecisionsError> {
        self.post(&of(decision_id, "/claim"), what).await
    }

    /// Reports the outcome, or that it is still running.
    pub async fn report(
        &self,
        decision_id: &str,
        outcome: &OutcomeRequest,
    ) -> Result<DecisionDocument, DecisionsError> {
        self.post(&of(decision_id, "/outcome"), outcome).await
    }

    /// Withdraws a question.
    pub async fn withdraw(&self, decision_id: &str, why: &WithdrawRequest) -> Result<DecisionDocument, DecisionsError> {
        self.post(&of(decision_id, "/withdraw"), why).await
    }

    async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, DecisionsError> {
        let body = serde_json::to_vec(body).map_err(|_| DecisionsError::BadAnswer)?;
        document(&self.send(Request::post_json(self.url(path), body), TIME_LIMIT).await?)
    }

    async fn send(&self, request: Request, time_limit: Duration) -> Result<Response, DecisionsError> {
        self.door.send(request, time_limit).await
    }

    fn url(&self, path: &str) -> String {
        self.door.url(path)
    }
}

fn of(decision_id: &str, what: &str) -> String {
    // Ids are `dec_` and hex digits; any other input stays within the path.
    let id: String = decision_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("/v1/decisions/{id}{what}")
}

fn document<A: DeserializeOwned>(answer: &Response) -> Result<A, DecisionsError> {
    match ServiceRefusal::of_endpoint(answer) {
        Some(refused) => Err(Box::new(refused).into()),
        None => serde_json::from_slice(&answer.body).map_err(|_| DecisionsError::BadAnswer),
    }
}
