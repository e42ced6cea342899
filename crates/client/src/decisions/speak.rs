//! AAEP sessions of an agent, and publishing its events.

use super::{Decisions, DecisionsError};
use countersign_protocol::{
    aaep::event::{Payload, SessionStarted},
    decisions::DecisionDocument,
};
use serde::Deserialize;

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

impl Decisions {
    /// Opens a session with its first event; returns its id.
    pub async fn open_session(&self, started: &SessionStarted) -> Result<String, DecisionsError> {
        let opened: OpenedSession = self.post("/aaep/v1/sessions", &Payload::SessionStarted(started.clone())).await?;
        Ok(opened.session_id)
    }

    /// Publishes an event in a session. The service sets producer, time and id.
    pub async fn say(&self, session_id: &str, payload: &Payload) -> Result<PublishResult, DecisionsError> {
        let id: String = session_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.post(&format!("/aaep/v1/sessions/{id}/events"), payload).await
    }
}
