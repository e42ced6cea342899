//! An agent's own event id is an idempotency key: a repeated event gets the first response and is published once.

use crate::{
    env::Env,
    records::{AgentEvent, AgentEventAnswer, Record},
    refusal::Refusal,
};
use countersign_protocol::{aaep::ingest::SentEventId, hash::Digest, ids::RowKey};

/// How long a repetition is recognised.
const REMEMBERED_S: i64 = 7 * 86_400;

/// An event identified by its agent's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentEvent {
    pub same: Digest,
    pub content: Digest,
}

impl SentEvent {
    /// An id is unique within one session of one principal; without a session, among the sessions that it opens.
    pub fn of(sent: &SentEventId, principal: &str, session_id: &str) -> Self {
        let parts = ["agent event", principal, session_id, sent.event_id.as_str()].join("\0");
        Self { same: Digest::of(parts.as_bytes()), content: sent.content }
    }

    /// Written in the same step as the effects of the event.
    pub fn record(&self, project: RowKey, answer: AgentEventAnswer, env: &Env) -> Record {
        Record::AgentEvent(AgentEvent {
            key: env.spare_key(),
            version: 1,
            project,
            same: self.same,
            content: self.content,
            answer,
            expires_at: env.now.plus_secs(REMEMBERED_S),
        })
    }

    /// The response to the earlier event with this id.
    pub fn answered(&self, known: &AgentEvent) -> Result<AgentEventAnswer, Refusal> {
        match known.content == self.content {
            true => Ok(known.answer.clone()),
            false => Err(Refusal::Conflict(
                "this event_id was used for a different event: send this one under a new id".into(),
            )),
        }
    }
}
