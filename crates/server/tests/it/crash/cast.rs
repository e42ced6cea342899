//! The participants: a program with a key, alice's subscriber, and a record of executed actions.

use super::story::{Act, Step, arguments, is_clarification, tool};
use countersign_engine::store::{PostgresLocation, StoreLocation};
use countersign_testkit::{
    Answer, Backend, Kit, Plane, Setup, TestAgent,
    aaep::{ReceivedEvents, Subscriber},
    decisions::{DecisionFixture, confirmation},
    faulty_store::CrashPoint,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs::OpenOptions, io::Write as _, path::PathBuf, sync::Arc};

/// Everything that a process needs to take part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Script {
    pub(super) database: Database,
    /// A file with a line for each executed action.
    pub(super) effects: PathBuf,
    pub(super) agent: String,
    pub(super) subscriber: String,
    pub(super) subscription_id: String,
    pub(super) doom: Option<CrashPoint>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Database {
    File(PathBuf),
    Postgres(String),
}

pub(super) struct Cast {
    pub(super) plane: Plane,
    pub(super) agent: TestAgent,
    pub(super) alice: Subscriber,
    effects: PathBuf,
}

/// The known state of a question: the document, and the event that raised it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) decision: Value,
    pub(super) event: Value,
}

pub(super) type Questions = BTreeMap<String, Known>;

/// The setup of a node that starts this long after the first one.
pub(super) fn setup(after_s: i64, seed: u64) -> Setup {
    let usual = Setup::payments();
    Setup { operators: Vec::new(), now: usual.now.plus_secs(after_s), seed, ..usual }
}

impl Script {
    /// Makes a database with the people in it and no question yet.
    pub(super) async fn written(kit: Kit, place: StoreLocation, folder: &std::path::Path) -> Self {
        let plane = Plane::start(setup(0, 1), place).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let mut subscriber = alice.subscriber(&plane).await;
        subscriber.subscribes(&plane).await;
        let database = match (kit.0, &plane.place) {
            (Backend::Postgres, StoreLocation::Postgres(place)) => Database::Postgres(place.url.clone()),
            (Backend::Sqlite, StoreLocation::File(path)) => Database::File(path.clone()),
            other => panic!("a database that lasts, and not {other:?}"),
        };
        plane.engine.store().close().await;
        Self {
            database,
            effects: folder.join("effects"),
            agent: agent.token,
            subscriber: subscriber.token,
            subscription_id: subscriber.subscription_id,
            doom: None,
        }
    }

    pub(super) fn place(&self) -> StoreLocation {
        match &self.database {
            Database::File(path) => StoreLocation::File(path.clone()),
            Database::Postgres(url) => StoreLocation::Postgres(PostgresLocation::new(url.clone())),
        }
    }

    /// Starts a node with all participants.
    pub(super) async fn cast(&self, after_s: i64, seed: u64) -> Cast {
        let doom = self.doom;
        let wrap_store = Arc::new(move |store| CrashPoint::wrap(doom, store));
        let plane = Plane::resume(Setup { wrap_store, ..setup(after_s, seed) }, self.place()).await;
        let agent = TestAgent { token: self.agent.clone(), principal: String::new() };
        let alice = Subscriber {
            token: self.subscriber.clone(),
            token_id: String::new(),
            subscription_id: self.subscription_id.clone(),
        };
        Cast { plane, agent, alice, effects: self.effects.clone() }
    }
}

impl Cast {
    /// Performs one step and returns its response. The effect of a reply is not in its response.
    pub(super) async fn does(&self, step: Step, known: &Questions) -> Answer {
        let Step(act, name) = step;
        let nothing = Known::default();
        let Known { decision, event } = known.get(name).unwrap_or(&nothing);
        match act {
            Act::Raise => self.raises(name).await,
            Act::MoreTime => {
                let path = format!("/aaep/v1/questions/{}/more-time", decision["decision_id"].as_str().unwrap());
                self.alice.post(&self.plane, &path, &json!({ "seconds": 600 })).await
            }
            Act::Accept => self.alice.accepts(&self.plane, event).await,
            Act::Reject => self.alice.rejects(&self.plane, event).await,
            Act::Respond => {
                let response = self.alice.response(&self.plane, event, json!("the blue one"));
                self.alice.replies(&self.plane, &response).await
            }
            Act::Claim => self.claims(name, decision).await,
            Act::StillRuns => self.agent.reports(&self.plane, decision, "running").await,
            Act::Committed => self.agent.reports(&self.plane, decision, "committed").await,
            Act::Failed => self.agent.reports(&self.plane, decision, "failed").await,
            Act::Withdraw => self.agent.withdraws(&self.plane, decision, &json!({})).await,
            Act::Minute => {
                self.plane.advance_secs(61).await;
                self.agent.reads_decision(&self.plane, decision).await
            }
        }
    }

    pub(super) async fn raises(&self, name: &str) -> Answer {
        if is_clarification(name) {
            let question = json!({ "question": "Which one?", "idempotency_key": name });
            return self.agent.requests_clarification(&self.plane, &question).await;
        }
        let mut question = confirmation(tool(name), arguments(name));
        if name == super::story::LEFT_OPEN {
            question["timeout_seconds"] = json!(3600);
        }
        self.agent.requests_confirmation(&self.plane, &question).await
    }

    /// Claims, and executes the action only if the claim succeeds.
    pub(super) async fn claims(&self, name: &str, decision: &Value) -> Answer {
        let body = json!({ "tool": tool(name), "arguments": arguments(name) });
        let answer = self.agent.claims(&self.plane, decision, &body).await;
        if answer.is_success() {
            let mut effects = OpenOptions::new().create(true).append(true).open(&self.effects).unwrap();
            effects.write_all(format!("{name}\n").as_bytes()).unwrap();
        }
        answer
    }

    pub(super) async fn looks(&self, decision: &Value) -> Value {
        self.agent.reads_decision(&self.plane, decision).await.expect(200).json()
    }

    /// The questions that are pending for alice.
    pub(super) async fn open_questions_listed(&self) -> Vec<Value> {
        let request = self.alice.request(http::Method::GET, "/aaep/v1/questions").body(axum::body::Body::empty());
        let listed = Answer::to(&self.plane.public, request.unwrap()).await.expect(200).json();
        listed["questions"].as_array().unwrap().clone()
    }

    /// The same with the events that her subscriber receives on joining.
    pub(super) async fn open_questions(&self) -> Vec<Known> {
        let mut open = self.open_questions_listed().await;
        let mut heard = self.alice.opens_stream(&self.plane).await;
        let mut told = Vec::new();
        while !open.is_empty() {
            let event = next_question(&mut heard).await;
            let of_event = |decision: &Value| decision["event_id"] == event["event_id"];
            let place = open.iter().position(of_event).expect("a question that is open");
            told.push(Known { decision: open.swap_remove(place), event });
        }
        told
    }

    /// The number of executions.
    pub(super) fn effects(&self, name: &str) -> usize {
        let effects = std::fs::read_to_string(&self.effects).unwrap_or_default();
        effects.lines().filter(|line| *line == name).count()
    }
}

pub(super) async fn next_question(heard: &mut ReceivedEvents) -> Value {
    loop {
        let event = heard.message().await;
        if event["reply_token"].is_string() {
            return event;
        }
    }
}
