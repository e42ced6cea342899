//! Sends a person's answers, and the other requests of a subscriber to our own service.

use super::{
    answer::Answer,
    error::{QuestionsError, ReplyError},
    link::Link,
    question::ReceivedQuestion,
    subscriber::SubscriberConfig,
};
use crate::{
    agent::ServiceRefusal,
    transport::{Response, Streaming, Unreachable},
};
use countersign_protocol::{
    aaep::questions::{MoreTime, MoreTimeRequest, Questions},
    aap::undo::UndoResponse,
    time::UnixMillis,
};
use http::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// The attempts to deliver a reply with unknown arrival. At most one counts, however many arrive (AAEP 6.3.5).
const ATTEMPTS: usize = 3;

/// The return channel to a producer; cheap to clone.
#[derive(Clone)]
pub struct Replier {
    link: Arc<Link>,
}

impl Replier {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    /// For requests without a subscription: the list, and more time.
    pub fn without_subscription(config: &SubscriberConfig, transport: Arc<dyn Streaming>) -> Self {
        Self::new(Arc::new(config.link(transport)))
    }

    /// Closes the subscription. Pending questions stay pending (C2).
    pub async fn close(&self) -> Result<(), Unreachable> {
        let id = self.link.subscription_id();
        if id.is_empty() {
            return Ok(());
        }
        let message = json!({ "type": "subscription.close", "subscription_id": id, "reason_code": "user_request" });
        self.link.post("/replies", &message).await.map(|_| ())
    }

    /// Delivers an answer to a received question. Only the event that settles the question shows whether it counted
    /// (AAEP 6.3.4).
    pub async fn reply(&self, question: &ReceivedQuestion, answer: &Answer, now: UnixMillis) -> Result<(), ReplyError> {
        let message = question.reply(answer, &self.link.subscription_id(), now)?;
        let answer = self.send(&message).await?;
        match ServiceRefusal::of_endpoint(&answer) {
            Some(refused) => Err(Box::new(refused).into()),
            None => Ok(()),
        }
    }

    async fn send(&self, message: &Value) -> Result<Response, Unreachable> {
        let mut sent = self.link.post("/replies", message).await;
        for _ in 1..ATTEMPTS {
            if sent.is_ok() {
                break;
            }
            sent = self.link.post("/replies", message).await;
        }
        sent
    }

    /// The pending questions of this person, oldest first. Not part of the protocol: only our own service has it.
    pub async fn questions(&self) -> Result<Questions, QuestionsError> {
        document(&self.link.get("/questions").await?)
    }

    /// Requests more time and returns the new deadline. The service's policy limits it.
    pub async fn extend_deadline(&self, decision_id: &str, seconds: i64) -> Result<MoreTime, QuestionsError> {
        let path = format!("/questions/{decision_id}/more-time");
        let body = json!(MoreTimeRequest { seconds });
        document(&self.link.post(&path, &body).await?)
    }

    /// Undoes an approved call within its undo window (AAP 14.1).
    /// Of several calls that the approval covered one must be named.
    pub async fn undo(&self, decision_id: &str, call_id: Option<&str>) -> Result<UndoResponse, QuestionsError> {
        let body = call_id.map_or_else(|| json!({}), |call_id| json!({ "call_id": call_id }));
        document(&self.link.post(&format!("/questions/{decision_id}/undo"), &body).await?)
    }
}

fn document<T: DeserializeOwned>(answer: &Response) -> Result<T, QuestionsError> {
    match ServiceRefusal::of_endpoint(answer) {
        Some(refused) if answer.status == StatusCode::NOT_FOUND && !refused.has_code() => {
            Err(QuestionsError::NotOffered)
        }
        Some(refused) => Err(Box::new(refused).into()),
        None => serde_json::from_slice(&answer.body).map_err(|_| QuestionsError::BadAnswer),
    }
}
