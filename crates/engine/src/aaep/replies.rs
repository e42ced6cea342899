//! Replies from the wire. The sender gets the same response regardless of the outcome.

use super::subscribers::Listener;
use crate::{projects::ProjectAt, services::Events};
use countersign_core::{
    decision::answer::{Answer, AnswerContent, Extra, NotCounted},
    records::{Subscription, Table, Via},
    refusal::Refusal,
    step::Guard,
};
use countersign_protocol::aaep::reply::{Reply, Response};
use serde_json::Value;

/// Why a reply was ignored. Only logged, never sent.
#[derive(Debug, thiserror::Error)]
enum Ignored {
    #[error("its subscription is closed, or somebody else's")]
    NoSubscription,
    #[error("its subscription cannot answer that kind of question")]
    CannotAnswer,
    #[error("its credential is no longer valid")]
    NoLongerEntitled,
    #[error("{0}")]
    Trouble(Refusal),
}

impl Events<'_> {
    /// Takes a reply. Succeeds regardless of its outcome; only a failed write is an error, so that the sender repeats
    /// it.
    pub async fn reply(self, at: &ProjectAt, listener: &Listener, reply: &Reply, legacy: bool) -> Result<(), Refusal> {
        let mut listener = listener.clone();
        for last in [false, true] {
            match self.reply_once(at, &listener, reply, legacy).await {
                Err(Ignored::Trouble(Refusal::Unavailable)) if last => return Err(Refusal::Unavailable),
                Err(Ignored::Trouble(Refusal::Unavailable)) => {}
                Err(why) => {
                    tracing::info!(%why, "a reply was ignored");
                    return Ok(());
                }
                Ok(()) => return Ok(()),
            }
            // The underlying rows may have changed: load everything again and retry once.
            match self.reload_subscriber(&at.project, listener.owner).await? {
                Some(again) => listener = again,
                None => {
                    tracing::info!(why = %Ignored::NoLongerEntitled, "a reply was ignored");
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn reply_once(self, at: &ProjectAt, listener: &Listener, reply: &Reply, legacy: bool) -> Result<(), Ignored> {
        let row = self.subscription_of(at, listener, reply, legacy).await?;
        let id = match &row {
            Some(row) => row.id.clone(),
            None => self.implicit_subscription_id(at, listener),
        };
        let mut by = listener.answerer(&at.project.document, Via::Subscription { id: id.clone() }, self.now());
        by.guards.extend(row.map(|row| Guard { table: Table::Subscription, key: row.key, version: row.version }));
        let answer = Answer {
            by,
            given: answer_content(reply),
            claimed_at: reply.timestamp(),
            decided_by: reply.decided_by().map(str::to_owned),
            correlation_id: reply.correlation_id().map(str::to_owned),
            extra: Extra::default(),
        };
        match self.decisions().answer_by_token(at, reply.reply_token(), &answer).await {
            Err(NotCounted::Refused(refusal)) => Err(Ignored::Trouble(refusal)),
            // A reply that did not count has already been logged.
            _ => Ok(()),
        }
    }

    /// The subscription that a reply names, if it may answer this (C1, C3); `None` on the legacy endpoints, where the
    /// token in the path identifies the sender (C15).
    async fn subscription_of(
        self,
        at: &ProjectAt,
        listener: &Listener,
        reply: &Reply,
        legacy: bool,
    ) -> Result<Option<Subscription>, Ignored> {
        let row = match reply.subscription_id() {
            Some(id) => match self.own_subscription(at, listener, id).await {
                Ok(row) => Some(row),
                Err(Refusal::NotFound(_)) => None,
                Err(refusal) => return Err(Ignored::Trouble(refusal)),
            },
            None => None,
        };
        let Some(row) = row else { return if legacy { Ok(None) } else { Err(Ignored::NoSubscription) } };
        let terms = self.terms_of(&at.project, &row).map_err(Ignored::Trouble)?;
        let answers = match reply {
            Reply::Confirmation(_) => terms.answers_confirmations,
            Reply::Clarification(_) => terms.answers_clarifications,
        };
        if answers && row.may_answer { Ok(Some(row)) } else { Err(Ignored::CannotAnswer) }
    }

    fn implicit_subscription_id(self, at: &ProjectAt, listener: &Listener) -> String {
        let known = self.hub.opened_by(at.project.key, listener.person_key(), listener.owner);
        known.unwrap_or_else(|| super::hub::IMPLICIT.to_owned())
    }
}

fn answer_content(reply: &Reply) -> AnswerContent {
    match reply {
        Reply::Confirmation(reply) => AnswerContent::Reply {
            decision: reply.decision,
            rationale: reply.decision_rationale.clone(),
            modified_action: reply.modified_action.clone().map(Value::Object),
        },
        Reply::Clarification(reply) => AnswerContent::Response {
            response: match &reply.response {
                Response::Bool(yes) => Value::Bool(*yes),
                Response::Number(number) => Value::Number(number.clone()),
                Response::Text(text) => Value::String(text.clone()),
            },
            confidence: reply.confidence.as_ref().and_then(serde_json::Number::as_f64),
        },
    }
}
