//! Clarifications: have a plan checked, answer what is unclear about it, confirm it, and take it to others with proof.
//!
//! Whatever an agent signed is proven before it is given back: a message that is unsigned, or signed by a key that
//! nobody published for its agent, is an error and no answer (Clarification 9).

mod answers;
mod error;
mod plans;
mod proofs;
mod trusted;

pub use answers::Answerer;
/// The checks by themselves, for whoever received a document by other means.
pub use countersign_jose::{
    KeyPolicy,
    clarification::{
        AgentKey, ChainSeal, Flaw, OpenGap, Proven, Registry, Report, RoundReport, Signer, Wrong, check_against,
        check_attestation, check_audit, check_handoff, check_message, check_record, is_published_test_key,
    },
};
pub use error::ClarificationError;
pub use proofs::ProvenDocument;

use crate::{
    agent::Refused,
    door::{Clock, Door},
    transport::{Request, Response, Transport},
};
use countersign_jose::ProofKey;
use countersign_protocol::{clarification::PublishedKeys, ids::ProjectId, json, mplp::MplpId, origin::Origin};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use trusted::Trusted;

const TIME_LIMIT: Duration = Duration::from_secs(30);
/// A chain may have ten thousand entries, and a plan stands in what is told about it (W-32).
const ANSWER_CAP: usize = 64 * 1024 * 1024;

/// The service as one agent sees it: by an API key (`csk_…`) or an AAP access token.
pub struct Clarifications {
    door: Door,
    trusted: Trusted,
}

/// What a service publishes; for whoever has no credentials there.
pub async fn published_keys(
    service: &Origin,
    project: Option<&ProjectId>,
    transport: &dyn Transport,
) -> Result<PublishedKeys, ClarificationError> {
    let base = project.map_or_else(|| service.to_string(), |project| format!("{service}/projects/{project}"));
    let mut request = Request::get(format!("{base}/v1/clarification/keys"));
    request.time_limit = Some(TIME_LIMIT);
    typed(&document(&transport.send(request).await?)?)
}

impl Clarifications {
    /// Believes the keys that the service publishes, as fetched from it. [`Self::trusting`] names others.
    pub fn new(service: &Origin, project: Option<&ProjectId>, credential: &str, transport: Arc<dyn Transport>) -> Self {
        Self { door: Door::new(service, project, credential, transport), trusted: Trusted::published() }
    }

    /// With a credential that is worth nothing without this key (AAP 13.1).
    #[must_use]
    pub fn bound_to(self, key: ProofKey, clock: Clock) -> Self {
        Self { door: self.door.bound_to(key, clock), ..self }
    }

    /// Believes these keys and no others, whatever the service publishes (W-19).
    #[must_use]
    pub fn trusting(self, registry: Registry) -> Self {
        Self { trusted: Trusted::given(registry), ..self }
    }

    /// What the service publishes now.
    pub async fn keys(&self) -> Result<PublishedKeys, ClarificationError> {
        typed(&self.get("/keys").await?)
    }

    /// Puts another key in force; for admins.
    pub async fn rotate_key(&self) -> Result<PublishedKeys, ClarificationError> {
        typed(&self.post("/rotate-key", &Value::Object(serde_json::Map::new())).await?)
    }

    async fn get(&self, path: &str) -> Result<Value, ClarificationError> {
        self.send(Request::get(self.url(path))).await
    }

    async fn of_session(&self, path: &str, session: &MplpId) -> Result<Value, ClarificationError> {
        self.get(&format!("{path}?session_id={session}")).await
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<Value, ClarificationError> {
        let body = serde_json::to_vec(body).map_err(|_| ClarificationError::BadAnswer)?;
        self.send(Request::post_json(self.url(path), body)).await
    }

    async fn send(&self, request: Request) -> Result<Value, ClarificationError> {
        let answer: Response = self.door.send_for::<ClarificationError>(request, TIME_LIMIT, ANSWER_CAP).await?;
        document(&answer)
    }

    fn url(&self, path: &str) -> String {
        self.door.url(&format!("/v1/clarification{path}"))
    }
}

/// The answer as it stands: signatures cover its literal texts.
fn document(answer: &Response) -> Result<Value, ClarificationError> {
    match Refused::of_endpoint(answer) {
        Some(refused) => Err(Box::new(refused).into()),
        None => json::value(&answer.body).map_err(|_| ClarificationError::BadAnswer),
    }
}

fn typed<A: DeserializeOwned>(document: &Value) -> Result<A, ClarificationError> {
    A::deserialize(document).map_err(|_| ClarificationError::BadAnswer)
}
