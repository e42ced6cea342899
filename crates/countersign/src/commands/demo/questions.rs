//! A person's yes: an agent asks, two subscribers are told, one answers, the other hears that it is settled; the agent
//! does exactly that, once, and nothing else.

use super::{
    person::{Person, text},
    story::check,
    world::{PERSON, World, system_now, trouble},
};
use crate::failure::Failure;
use countersign_client::{
    aaep::{Announcement, Answer, Ending, Heard, Inbox, Question, Subscriber, SubscriberConfig, Trust, system_dice},
    decisions::{Decisions, DecisionsError},
};
use countersign_protocol::decisions::{
    ClaimRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest, OutcomeStatus, State,
};
use countersign_server::admin::{ApiKeyKind, NewKey};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Duration};

pub(super) const BOT: &str = "invoice bot";
const TOOL: &str = "payments.send";
/// Long on any machine that can run the demo at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// An agent with an API key, and two devices of the person who answers for it.
pub(super) struct Asking {
    agent: Decisions,
    phone: Device,
    speaker: Device,
}

impl Asking {
    pub(super) async fn begin(world: &World, person: &Person) -> Result<Self, Failure> {
        let projects = world.node.engine.projects().await.map_err(trouble)?;
        let project = projects.first().ok_or_else(|| Failure::new("the demo's project is missing"))?;
        let key = NewKey {
            kind: ApiKeyKind::Agent,
            principal: BOT.into(),
            responsible: PERSON.into(),
            actions: vec![TOOL.into()],
            asks: Vec::new(),
            jkt: None,
        };
        let key = world.node.engine.add_key(project, &key).await?;
        let transport = Arc::new(world.transport()?);
        let agent = Decisions::new(&world.origin, None, &key.secret, transport, system_dice());
        let phone = Device::connect(world, person, "phone").await?;
        Ok(Self { agent, phone, speaker: Device::connect(world, person, "kitchen speaker").await? })
    }

    /// Asks, and lets one device answer; what the agent then has, and what the other device heard of it.
    pub(super) async fn ask(&mut self, amount: u32) -> Result<(DecisionDocument, Ending), Failure> {
        let asked = self.agent.ask(&question(amount)).await.map_err(trouble)?;
        let (seen, also) = (self.phone.hears_of(&asked).await?, self.speaker.hears_of(&asked).await?);
        let right = seen.is_irreversible() && also.event_id() == seen.event_id();
        check(right, "the two devices were not told the same")?;
        let yes = Answer::Yes { rationale: None };
        self.phone.subscriber.replier().reply(&seen, &yes, system_now()).await.map_err(trouble)?;
        let heard = self.speaker.ending_of(&also).await?;
        let settled = self.agent.wait(&asked.decision_id, PATIENCE).await.map_err(trouble)?;
        check(settled.state == State::Accepted, "the agent was not told of the yes")?;
        Ok((settled, heard))
    }

    /// Claims and reports, as for a payment that went well.
    pub(super) async fn pay(&self, decision: &DecisionDocument, amount: u32) -> Result<(), Failure> {
        self.agent.claim(&decision.decision_id, &claim(amount)).await.map_err(trouble)?;
        let again = self.agent.claim(&decision.decision_id, &claim(amount)).await;
        check(again.is_err(), "one yes was spent twice")?;
        let outcome = OutcomeRequest { status: OutcomeStatus::Committed, error_message: None };
        let done = self.agent.report(&decision.decision_id, &outcome).await.map_err(trouble)?;
        let state = done.execution.map(|execution| execution.state).unwrap_or_default();
        check(state == "committed", "the outcome was not recorded")
    }

    /// Tries to spend the yes on another amount.
    pub(super) async fn pay_another(&self, decision: &DecisionDocument, amount: u32) -> Result<(), Failure> {
        let refused = self.agent.claim(&decision.decision_id, &claim(amount)).await;
        check(matches!(refused, Err(DecisionsError::Refused(_))), "a yes to one amount was spent on another")
    }

    pub(super) async fn end(self) {
        for device in [self.phone, self.speaker] {
            let _left = device.subscriber.replier().close().await;
        }
    }
}

/// One subscriber with a token of its own.
struct Device {
    subscriber: Subscriber,
    inbox: Inbox,
}

impl Device {
    async fn connect(world: &World, person: &Person, name: &str) -> Result<Self, Failure> {
        let made = person.post("/aaep/v1/subscriber-tokens", &json!({ "name": name })).await?;
        let mut config = SubscriberConfig::new(world.origin.clone(), text(&made, "token"));
        config.subscriber_id = name.into();
        let subscriber = Subscriber::connect(config, Arc::new(world.transport()?), system_dice()).await;
        Ok(Self { subscriber: subscriber.map_err(trouble)?, inbox: Inbox::new(Trust::default()) })
    }

    async fn hears_of(&mut self, asked: &DecisionDocument) -> Result<Arc<Question>, Failure> {
        let id = &asked.decision_id;
        let heard = self.until(|announcement| match announcement {
            Announcement::Asked(question) if question.id() == id => Some(question),
            _ => None,
        });
        heard.await
    }

    async fn ending_of(&mut self, question: &Question) -> Result<Ending, Failure> {
        let over = self.until(|announcement| match announcement {
            Announcement::Over { question: over, ending, .. } if over.id() == question.id() => Some(ending),
            _ => None,
        });
        over.await
    }

    async fn until<T>(&mut self, wanted: impl Fn(Announcement) -> Option<T>) -> Result<T, Failure> {
        let heard = async {
            loop {
                let Heard::Received(received) = self.subscriber.next().await.map_err(trouble)? else { continue };
                let told = self.inbox.apply(&received, system_now());
                if let Some(found) = told.into_iter().find_map(&wanted) {
                    return Ok(found);
                }
            }
        };
        let late = || Failure::new("not as promised: a subscriber was not told in time");
        tokio::time::timeout(PATIENCE, heard).await.map_err(|_| late())?
    }
}

fn question(amount: u32) -> ConfirmationRequest {
    ConfirmationRequest {
        action: format!("Pay ${amount} to Acme Supplies"),
        consequence: "The money leaves the account and does not come back".into(),
        tool: Some(TOOL.into()),
        arguments: Some(arguments(amount)),
        ..ConfirmationRequest::default()
    }
}

fn claim(amount: u32) -> ClaimRequest {
    ClaimRequest { tool: Some(TOOL.into()), arguments: Some(arguments(amount)), digest: None }
}

fn arguments(amount: u32) -> Map<String, Value> {
    Map::from_iter([("amount".to_owned(), json!(amount)), ("to".to_owned(), json!("Acme Supplies"))])
}
