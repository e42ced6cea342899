//! For agents without a gateway in front of their actions: ask a person, wait, claim, report; and publish AAEP events.
//! Nothing here decides whether a call may run: [`Decisions::claim`] asks the service, every time.

pub use crate::service_client::ClientClock;

use crate::{
    aaep::{Backoff, Dice},
    service_client::{ANSWER_CAP, ServiceClient, ServiceError, document},
    transport::{Request, Transport},
};
use countersign_jose::ProofKey;
use countersign_protocol::{
    aaep::event::{Payload, SessionStarted},
    decisions::{
        ClaimRequest, ClarificationRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest, State,
        WithdrawRequest,
    },
    ids::ProjectId,
    origin::Origin,
};
use serde::Deserialize;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The wait of one request. Below the service's limit and the timeouts of many proxies.
const POLL_S: u64 = 50;
/// The extra time allowed for the service's response.
const MARGIN: Duration = Duration::from_secs(8);

/// The service's decision API for one agent: by its API key (`csk_…`) or an AAP access token.
pub struct Decisions {
    client: ServiceClient,
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
        Self { client: ServiceClient::new(service, project, credential, transport), dice: Mutex::new(dice) }
    }

    /// With a credential bound to this key (AAP 13.1).
    pub fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { client: self.client.bound_to(key, clock), ..self }
    }

    /// Requests a confirmation. A pending request is not raised twice.
    pub async fn request_confirmation(&self, question: &ConfirmationRequest) -> Result<DecisionDocument, ServiceError> {
        self.client.post("/v1/confirmations", question).await
    }

    /// Requests a clarification.
    pub async fn request_clarification(
        &self,
        question: &ClarificationRequest,
    ) -> Result<DecisionDocument, ServiceError> {
        self.client.post("/v1/clarifications", question).await
    }

    /// Reads the decision.
    pub async fn get(&self, decision_id: &str) -> Result<DecisionDocument, ServiceError> {
        self.client.get(&path(decision_id, "")).await
    }

    /// Claims an approval for exactly this call. Only after `Ok` may it run, once; on any error it must not. It is
    /// never retried automatically: [`Self::look`] shows whether a claim with a lost response is held.
    pub async fn claim(&self, decision_id: &str, what: &ClaimRequest) -> Result<DecisionDocument, ServiceError> {
        self.client.post(&path(decision_id, "/claim"), what).await
    }

    /// Reports the outcome, or that it is still running.
    pub async fn report(&self, decision_id: &str, outcome: &OutcomeRequest) -> Result<DecisionDocument, ServiceError> {
        self.client.post(&path(decision_id, "/outcome"), outcome).await
    }

    /// Withdraws a question.
    pub async fn withdraw(&self, decision_id: &str, why: &WithdrawRequest) -> Result<DecisionDocument, ServiceError> {
        self.client.post(&path(decision_id, "/withdraw"), why).await
    }

    /// Waits by repeated long polls, across restarts of either side; the decision is a record at the service. Lost connections and restarts are retried, for at most `patience`; after that
    /// the error says that it may still be pending.
    pub async fn wait(&self, decision_id: &str, patience: Duration) -> Result<DecisionDocument, ServiceError> {
        let settled = tokio::time::timeout(patience, self.until_settled(decision_id, patience)).await;
        settled.unwrap_or(Err(ServiceError::StillPending))
    }

    async fn until_settled(&self, decision_id: &str, patience: Duration) -> Result<DecisionDocument, ServiceError> {
        let mut backoff = Backoff::default();
        let poll = patience.as_secs().clamp(1, POLL_S);
        loop {
            match self.poll(decision_id, poll).await {
                Ok(decision) if decision.state != State::Pending => return Ok(decision),
                Ok(_) => backoff.reset(),
                Err(why) if why.may_pass() => {
                    let wait = backoff.next(self.jitter());
                    tokio::time::sleep(wait).await;
                }
                Err(why) => return Err(why),
            }
        }
    }

    async fn poll(&self, decision_id: &str, seconds: u64) -> Result<DecisionDocument, ServiceError> {
        let url = self.client.url(&path(decision_id, &format!("?wait={seconds}")));
        let limit = Duration::from_secs(seconds).saturating_add(MARGIN);
        document(&self.client.send(Request::get(url), limit, ANSWER_CAP).await?)
    }

    fn jitter(&self) -> u64 {
        (self.dice.lock().unwrap_or_else(PoisonError::into_inner))()
    }

    /// Opens a session with its first event; returns its id.
    pub async fn open_session(&self, started: &SessionStarted) -> Result<String, ServiceError> {
        let opened: OpenedSession =
            self.client.post("/aaep/v1/sessions", &Payload::SessionStarted(started.clone())).await?;
        Ok(opened.session_id)
    }

    /// Publishes an event in a session. The service sets producer, time and id.
    pub async fn publish(&self, session_id: &str, payload: &Payload) -> Result<PublishResult, ServiceError> {
        let id: String = session_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.client.post(&format!("/aaep/v1/sessions/{id}/events"), payload).await
    }
}

/// The result of publishing an event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum PublishResult {
    /// It asked a person: wait for the decision.
    Asked(Box<DecisionDocument>),
    Said {
        event_id: String,
    },
}

#[derive(Deserialize)]
struct OpenedSession {
    session_id: String,
}

fn path(decision_id: &str, below: &str) -> String {
    // Ids are `dec_` and hex digits; any other input stays within the path.
    let id: String = decision_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("/v1/decisions/{id}{below}")
}
