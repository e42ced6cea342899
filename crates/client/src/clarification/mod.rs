//! Clarifications: have a plan checked, answer its gaps, confirm it, and take it to others with proof.
//!
//! Every signed document is verified before it is returned: a message that is unsigned, or signed by a key not
//! published for its agent, is an error (Clarification 9).

mod answers;
mod error;
mod plans;
mod proofs;
mod trusted;

pub use answers::AnswerSigner;
/// The checks alone, for documents received by other means.
pub use countersign_jose::{
    KeyPolicy,
    clarification::{
        AgentKey, ChainReport, ChainSeal, Flaw, OpenGap, ProvenKind, Registry, RoundReport, Signer, Wrong,
        check_against, check_attestation, check_audit, check_handoff, check_message, check_record,
        is_published_test_key,
    },
};
pub use error::ClarificationError;
pub use proofs::ProvenDocument;

use crate::{
    service_client::{ClientClock, ServiceClient, ServiceError},
    transport::{Request, Response, Transport},
};
use countersign_jose::ProofKey;
use countersign_protocol::{clarification::PublishedKeys, ids::ProjectId, json, mplp::MplpId, origin::Origin};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use trusted::Trusted;

const BASE: &str = "/v1/clarification";
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// A chain may have ten thousand entries, and responses include the plan (W-32).
const ANSWER_CAP: usize = 64 * 1024 * 1024;

/// The service's clarification API for one agent: by an API key (`csk_…`) or an AAP access token.
pub struct Clarifications {
    client: ServiceClient,
    trusted: Trusted,
}

/// The keys that a service publishes; needs no credentials.
pub async fn published_keys(
    service: &Origin,
    project: Option<&ProjectId>,
    transport: &dyn Transport,
) -> Result<PublishedKeys, ClarificationError> {
    let base = project.map_or_else(|| service.to_string(), |project| format!("{service}/projects/{project}"));
    let mut request = Request::get(format!("{base}/v1/clarification/keys"));
    request.time_limit = Some(TIME_LIMIT);
    typed(&document(&transport.send(request).await.map_err(ServiceError::from)?)?)
}

impl Clarifications {
    /// Trusts the keys that the service publishes, as fetched from it. [`Self::trusting`] names others.
    pub fn new(service: &Origin, project: Option<&ProjectId>, credential: &str, transport: Arc<dyn Transport>) -> Self {
        Self { client: ServiceClient::new(service, project, credential, transport), trusted: Trusted::published() }
    }

    /// With a credential bound to this key (AAP 13.1).
    #[must_use]
    pub fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { client: self.client.bound_to(key, clock), ..self }
    }

    /// Trusts only these keys, regardless of the service's own (W-19).
    #[must_use]
    pub fn trusting(self, registry: Registry) -> Self {
        Self { trusted: Trusted::given(registry), ..self }
    }

    /// The keys that the service publishes now.
    pub async fn keys(&self) -> Result<PublishedKeys, ClarificationError> {
        typed(&self.get("/keys").await?)
    }

    /// Activates another key; for admins.
    pub async fn rotate_key(&self) -> Result<PublishedKeys, ClarificationError> {
        typed(&self.post("/rotate-key", &Value::Object(serde_json::Map::new())).await?)
    }

    async fn get(&self, path: &str) -> Result<Value, ClarificationError> {
        self.send(Request::get(self.client.url(&format!("{BASE}{path}")))).await
    }

    async fn of_session(&self, path: &str, session: &MplpId) -> Result<Value, ClarificationError> {
        self.get(&format!("{path}?session_id={session}")).await
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<Value, ClarificationError> {
        self.send(self.client.posting(&format!("{BASE}{path}"), body)?).await
    }

    async fn send(&self, request: Request) -> Result<Value, ClarificationError> {
        Ok(document(&self.client.send(request, TIME_LIMIT, ANSWER_CAP).await?)?)
    }
}

/// The response as written: signatures cover its literal texts.
fn document(answer: &Response) -> Result<Value, ServiceError> {
    match ServiceError::refused(answer) {
        Some(refused) => Err(refused),
        None => json::value(&answer.body).map_err(|_| ServiceError::BadAnswer),
    }
}

fn typed<A: DeserializeOwned>(document: &Value) -> Result<A, ClarificationError> {
    Ok(A::deserialize(document).map_err(|_| ServiceError::BadAnswer)?)
}
