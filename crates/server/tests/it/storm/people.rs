//! The approvers: each has a subscriber at one of the nodes and answers every question that it receives.

use super::{Node, PEOPLE};
use countersign_engine::{Delivered, EventStream, Listener, Role};
use countersign_protocol::{
    aaep::{
        event::YesNo,
        handshake::SubscriptionRequest,
        reply::{ConfirmationReply, Reply},
    },
    time::UnixMillis,
};
use countersign_testkit::{Plane, aaep::subscription_request};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinSet;

/// The time limit of a wait.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Ears {
    number: usize,
    node: Node,
    listener: Listener,
    subscription_id: String,
    stream: EventStream,
    read: Arc<Mutex<HashMap<String, Heard>>>,
    /// Answers on their way.
    answers: JoinSet<()>,
}

/// Everything that one of them received, by decision.
#[derive(Default)]
pub(super) struct Told {
    /// The events that raised the question.
    pub(super) asked: BTreeMap<String, BTreeSet<String>>,
    /// The settlements, in the order received.
    pub(super) settled: BTreeMap<String, Vec<String>>,
}

/// The event is the same for every subscriber, so it is parsed once.
#[derive(Clone)]
enum Heard {
    Asked { decision: String, token: String },
    Settled { decision: String, how: String },
    Other,
}

pub(super) async fn people(plane: &Plane, nodes: &[Node]) -> Vec<Ears> {
    let read = Arc::default();
    let mut all = Vec::with_capacity(PEOPLE);
    for number in 0..PEOPLE {
        let person = plane.person_in("calendar", &format!("approver{number}"), &[Role::Approver]).await;
        let token = person.subscriber(plane).await.token;
        let node = nodes[number % nodes.len()].clone();
        let listener = node.engine.events().subscriber_by_token(&node.at, &token).await.unwrap();
        let request = SubscriptionRequest::parse(&subscription_request(json!({}))).unwrap();
        let accepted = node.engine.events().subscribe(&node.at, &listener, &request).await.unwrap();
        let subscription_id = accepted.subscription_id;
        let stream = node.engine.events().stream(&node.at, &listener, &subscription_id, None).await.unwrap();
        let (read, answers) = (Arc::clone(&read), JoinSet::new());
        all.push(Ears { number, node, listener, subscription_id, stream, read, answers });
    }
    all
}

impl Ears {
    /// Receives and answers until everything is settled and no event is left.
    pub(super) async fn hear(mut self, questions: usize, now: UnixMillis) -> Told {
        let mut told = Told::default();
        while told.settled.len() < questions {
            let next = tokio::time::timeout(PATIENCE, self.stream.next()).await;
            let next = next.unwrap_or_else(|_| panic!("{} heard {} settlements", self.number, told.settled.len()));
            self.take(next.expect("the stream goes on"), &mut told, now);
        }
        while let Some(answered) = self.answers.join_next().await {
            answered.unwrap();
        }
        while let Some(next) = futures_util::FutureExt::now_or_never(self.stream.next()) {
            self.take(next.expect("the stream goes on"), &mut told, now);
        }
        told
    }

    fn take(&mut self, delivered: Delivered, told: &mut Told, now: UnixMillis) {
        let Delivered::Event { event_id, json } = delivered else { panic!("the stream was ended: {delivered:?}") };
        match self.understood(&event_id, &json) {
            Heard::Asked { decision, token } => {
                told.asked.entry(decision).or_default().insert(event_id);
                self.answer(token, told.asked.len(), now);
            }
            Heard::Settled { decision, how } => told.settled.entry(decision).or_default().push(how),
            Heard::Other => {}
        }
    }

    /// Half of them approve, half reject, and vice versa for the next question. Answering does not block receiving:
    /// a slow subscription is evicted.
    fn answer(&mut self, reply_token: String, question: usize, timestamp: UnixMillis) {
        let yes = (self.number + question).is_multiple_of(2);
        let reply = Reply::Confirmation(ConfirmationReply {
            reply_token,
            decision: if yes { YesNo::Accept } else { YesNo::Reject },
            subscription_id: Some(self.subscription_id.clone()),
            timestamp,
            decided_by: None,
            decision_rationale: None,
            modified_action: None,
            correlation_id: None,
        });
        let (node, listener) = (self.node.clone(), self.listener.clone());
        self.answers.spawn(async move {
            let taken = node.engine.events().reply(&node.at, &listener, &reply, false).await;
            assert_eq!(taken, Ok(()), "whatever becomes of it, its sender is told the same");
        });
    }

    fn understood(&self, event_id: &str, json: &str) -> Heard {
        let mut read = self.read.lock().unwrap();
        read.entry(event_id.to_owned()).or_insert_with(|| understood(&serde_json::from_str(json).unwrap())).clone()
    }
}

fn understood(event: &Value) -> Heard {
    let ours = &event["extensions"]["dev_countersign"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let decision = text(&ours["decision_id"]);
    match event["type"].as_str().unwrap_or_default() {
        "aaep:agent.awaiting.confirmation" => Heard::Asked { decision, token: text(&event["reply_token"]) },
        "aaep:agent.state.changed" if ours["settled"].is_string() => {
            Heard::Settled { decision, how: text(&ours["settled"]) }
        }
        _ => Heard::Other,
    }
}
