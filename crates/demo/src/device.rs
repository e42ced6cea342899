//! A device of the person: it receives agents' questions, and answers.

use super::{
    person::{DemoPerson, text},
    plane::{system_now, transport, trouble},
};
use crate::DemoFailure;
use countersign_client::{
    aaep::{
        Announcement, Answer, Ending, Inbox, ReceivedQuestion, SubscriberClient, SubscriberConfig, SubscriberEvent,
        Trust, system_dice,
    },
    mplp::Mplp,
};
use countersign_protocol::origin::Origin;
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// Long enough for any machine that can run the demo.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One subscriber with its own token.
pub(super) struct Device {
    origin: Origin,
    token: String,
    subscriber: SubscriberClient,
    inbox: Inbox,
}

impl Device {
    pub(super) async fn connect(origin: &Origin, person: &DemoPerson, name: &str) -> Result<Self, DemoFailure> {
        // The person has just signed in, which is the fresh authentication that such a token needs.
        let made =
            person.post("/aaep/v1/subscriber-tokens", &json!({ "name": name, "approves_high_risk": true })).await?;
        let token = text(&made, "token").to_owned();
        let mut config = SubscriberConfig::new(origin.clone(), &token);
        config.subscriber_id = name.into();
        let subscriber = SubscriberClient::connect(config, Arc::new(transport()?), system_dice()).await;
        let (subscriber, inbox) = (subscriber.map_err(trouble)?, Inbox::new(Trust::default()));
        Ok(Self { origin: origin.clone(), token, subscriber, inbox })
    }

    /// The person's client for approvals.
    pub(super) fn mplp(&self) -> Result<Mplp, DemoFailure> {
        Ok(Mplp::new(&self.origin, None, &self.token, Arc::new(transport()?)))
    }

    /// The question of a decision, as the person receives it.
    pub(super) async fn wait_for_question(&mut self, id: &str) -> Result<Arc<ReceivedQuestion>, DemoFailure> {
        let heard = self.until(|announcement| match announcement {
            Announcement::Asked(question) if question.id() == id => Some(question),
            _ => None,
        });
        heard.await
    }

    pub(super) async fn approve(&self, question: &ReceivedQuestion) -> Result<(), DemoFailure> {
        let yes = Answer::Approve { rationale: None };
        self.subscriber.replier().reply(question, &yes, system_now()).await.map(drop).map_err(trouble)
    }

    /// Sends the person's typed or chosen answer.
    pub(super) async fn answers(&self, question: &ReceivedQuestion, typed: &str) -> Result<(), DemoFailure> {
        let answer = question.read_answer(typed).map_err(trouble)?;
        self.subscriber.replier().reply(question, &answer, system_now()).await.map(drop).map_err(trouble)
    }

    pub(super) async fn ending_of(&mut self, question: &ReceivedQuestion) -> Result<Ending, DemoFailure> {
        let over = self.until(|announcement| match announcement {
            Announcement::Over { question: over, ending, .. } if over.id() == question.id() => Some(ending),
            _ => None,
        });
        over.await
    }

    async fn until<T>(&mut self, wanted: impl Fn(Announcement) -> Option<T>) -> Result<T, DemoFailure> {
        let heard = async {
            loop {
                let SubscriberEvent::Received(received) = self.subscriber.next().await.map_err(trouble)? else {
                    continue;
                };
                let told = self.inbox.apply(&received, system_now());
                if let Some(found) = told.into_iter().find_map(&wanted) {
                    return Ok(found);
                }
            }
        };
        let late = || DemoFailure::new("not as promised: a subscriber was not told in time");
        tokio::time::timeout(PATIENCE, heard).await.map_err(|_| late())?
    }

    pub(super) async fn close(self) {
        let _left = self.subscriber.replier().close().await;
    }
}
