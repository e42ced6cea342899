//! Subscription records: opened, renegotiated, closed. None of this changes a question.

use super::negotiate::SubscriptionTerms;
use crate::{
    env::Env,
    records::{Record, Subscription, SubscriptionOwner},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::ids::RowKey;
use std::sync::Arc;

pub struct OpenSubscription {
    pub subscriber_id: String,
    pub terms: Arc<SubscriptionTerms>,
}

/// The owner of the new subscription.
pub struct OpenView {
    pub project: RowKey,
    pub person: RowKey,
    pub owner: SubscriptionOwner,
    pub may_answer: bool,
    /// The rows that the owner's authority rests on.
    pub guards: Vec<Guard>,
}

impl Operation for OpenSubscription {
    type View = OpenView;
    type Answer = Subscription;
    type Refusal = Refusal;

    fn decide(self, view: &OpenView, env: &Env) -> Result<Step<Subscription>, Refusal> {
        let mut mint = env.mint();
        let subscription = Subscription {
            key: mint.key(),
            version: 1,
            project: view.project,
            id: mint.id("sub"),
            person: view.person,
            owner: view.owner,
            may_answer: view.may_answer,
            subscriber_id: self.subscriber_id,
            capabilities: capabilities(&self.terms)?,
            opened_at: env.now,
            closed_at: None,
        };
        Ok(step(subscription, view.guards.clone()))
    }
}

/// Changes the terms. The node that holds the stream learns of it by the signal.
pub struct ChangeTerms {
    pub terms: Arc<SubscriptionTerms>,
}

impl Operation for ChangeTerms {
    type View = Subscription;
    type Answer = Subscription;
    type Refusal = Refusal;

    fn decide(self, view: &Subscription, _: &Env) -> Result<Step<Subscription>, Refusal> {
        if view.closed_at.is_some() {
            return Err(Refusal::NotFound("there is no such subscription".into()));
        }
        let capabilities = capabilities(&self.terms)?;
        Ok(step(Subscription { capabilities, version: view.version + 1, ..view.clone() }, Vec::new()))
    }
}

/// Closes a subscription. Closing it again changes nothing, and no question ends with it.
pub struct Close;

impl Operation for Close {
    type View = Subscription;
    type Answer = Subscription;
    type Refusal = Refusal;

    fn decide(self, view: &Subscription, env: &Env) -> Result<Step<Subscription>, Refusal> {
        if view.closed_at.is_some() {
            return Ok(Step::answer(view.clone()));
        }
        let closed = Subscription { closed_at: Some(env.now), version: view.version + 1, ..view.clone() };
        Ok(step(closed, Vec::new()))
    }
}

/// The requested capabilities: any node can derive the terms from them, also after a restart.
fn capabilities(terms: &SubscriptionTerms) -> Result<serde_json::Value, Refusal> {
    serde_json::to_value(terms.requested()).map_err(|_| Refusal::Internal)
}

fn step(subscription: Subscription, guards: Vec<Guard>) -> Step<Subscription> {
    let news = vec![Signal::Subscription { subscription: subscription.key }];
    let puts = vec![Record::Subscription(subscription.clone())];
    Step { answer: subscription, effects: Effects { guards, puts, news, ..Effects::default() } }
}
