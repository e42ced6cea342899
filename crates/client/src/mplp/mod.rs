//! Plans and approvals (MPLP): write a plan, have a person approve it once, follow it; and, for people, decide and
//! revoke. Nothing here decides whether a call may run: the service does, at every call.

mod confirms;
mod error;
mod events;
mod follow;
mod plans;

pub use confirms::{confirm_id, decision_id};
pub use error::MplpError;
pub use events::EventPage;
pub use follow::PlanFollower;
pub use plans::Proposed;

use crate::{
    agent::ServiceRefusal,
    door::{ClientClock, Door},
    transport::{Request, Response, Transport},
};
use countersign_jose::ProofKey;
use countersign_protocol::{ids::ProjectId, origin::Origin};
use serde::{Serialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The service's MPLP API for one agent or one person: by an API key (`csk_…`), an AAP access token, or a subscriber
/// token of a person (`cst_…`).
pub struct Mplp {
    door: Door,
}

impl Mplp {
    pub fn new(service: &Origin, project: Option<&ProjectId>, credential: &str, transport: Arc<dyn Transport>) -> Self {
        Self { door: Door::new(service, project, credential, transport) }
    }

    /// With a credential bound to this key (AAP 13.1).
    pub fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { door: self.door.bound_to(key, clock) }
    }

    async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, MplpError> {
        document(&self.send(Request::get(self.url(path))).await?)
    }

    async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, MplpError> {
        document(&self.post_to(path, body).await?)
    }

    /// The whole response, for callers that need its headers.
    async fn post_to(&self, path: &str, body: &impl Serialize) -> Result<Response, MplpError> {
        let body = serde_json::to_vec(body).map_err(|_| MplpError::BadAnswer)?;
        self.send(Request::post_json(self.url(path), body)).await
    }

    async fn send(&self, request: Request) -> Result<Response, MplpError> {
        self.door.send(request, TIME_LIMIT).await
    }

    fn url(&self, path: &str) -> String {
        self.door.url(&format!("/mplp/v1{path}"))
    }
}

fn document<A: DeserializeOwned>(answer: &Response) -> Result<A, MplpError> {
    match ServiceRefusal::of_endpoint(answer) {
        Some(refused) => Err(Box::new(refused).into()),
        None => serde_json::from_slice(&answer.body).map_err(|_| MplpError::BadAnswer),
    }
}
