//! An agent: connected by the person, registered, and calling the gateway. It trusts the responses, and repeats nothing
//! that may have happened.

use super::{
    http::{self, Answer, Listener, NoAnswer, Request},
    load::Load,
    random::Random,
    record::{Attempt, ReportedResult, SoakOperation},
    setup::{INTENT, SCOPE},
    summary::classify,
};
use anyhow::{Context as _, ensure};
use countersign_engine::Clock;
use countersign_protocol::ids;
use countersign_testkit::{VERIFIER, challenge_of};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::sync::Mutex;

/// Longer than any response of the gateway takes, shorter than a node may be stopped.
const PATIENCE: Duration = Duration::from_secs(12);
const PAUSE: Duration = Duration::from_millis(300);
/// How often an operation is retried after a response without effect.
const TRIES: usize = 40;

pub(super) struct SoakAgent {
    pub(super) number: usize,
    pub(super) load: Arc<Load>,
    pub(super) delegation: String,
    delegation_token: String,
    session: String,
    /// A restore ends it; then the agent registers again.
    access_token: Mutex<String>,
}

/// One request to the gateway.
#[derive(Clone, Debug)]
pub(super) struct SoakCall {
    pub(super) operation: SoakOperation,
    pub(super) marker: String,
    pub(super) decision: Option<String>,
    pub(super) request: Request,
}

impl SoakAgent {
    /// Asks the person for consent, and opens an AAP session.
    pub(super) async fn connect(load: &Arc<Load>, number: usize) -> anyhow::Result<Self> {
        let at = load.public(0);
        let body = json!({
            "operator_jwt": load.operator_jwt(),
            "mode": "user_delegated",
            "scopes": [SCOPE],
            "code_challenge": challenge_of(VERIFIER),
            "state": "state-of-the-soak",
        });
        let asked = post(&at, "/agent/delegate/requests", &body).await?;
        let request_id = asked["request_id"].as_str().context("no connect request")?;
        let code = load.person.connects(&at, request_id).await?;
        let body = json!({ "operator_jwt": load.operator_jwt(), "code": code, "code_verifier": VERIFIER });
        let given = post(&at, "/agent/delegate/token", &body).await?;
        let text = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
        let mut random = Random::of(load.seed ^ Clock::System.now().0.unsigned_abs(), &format!("session {number}"));
        let id = [random.next().to_be_bytes(), random.next().to_be_bytes()].concat();
        let agent = Self {
            number,
            load: Arc::clone(load),
            delegation: text("delegation_id"),
            delegation_token: text("delegation_token"),
            session: ids::prefixed("sess", id.try_into().unwrap_or([0; 16])),
            access_token: Mutex::default(),
        };
        agent.register("").await?;
        Ok(agent)
    }

    /// Another access token for the same session, unless one was fetched meanwhile.
    async fn register(&self, known: &str) -> anyhow::Result<()> {
        let mut token = self.access_token.lock().await;
        if *token != known {
            return Ok(());
        }
        let body = json!({
            "mode": "user_delegated",
            "operator_jwt": self.load.operator_jwt(),
            "delegation_token": self.delegation_token,
            "session_id": self.session,
        });
        let registered = post(&self.load.any_public(), "/agent/register", &body).await?;
        *token = registered["access_token"].as_str().context("no access token")?.to_owned();
        Ok(())
    }

    /// Runs operations until the load ends.
    pub(super) async fn work(&self) {
        let mut random = Random::of(self.load.seed, &format!("agent {}", self.number));
        let mut count = 0;
        while !self.load.is_over() {
            count += 1;
            let marker = format!("{}-{count}", self.number);
            match random.below(100) {
                0..55 => self.held_call(&mut random, format!("h{marker}")).await,
                55..80 => self.write(format!("w{marker}")).await,
                _ => self.read(format!("r{marker}")).await,
            }
            tokio::time::sleep(random.millis(5, 60)).await;
        }
    }

    async fn write(&self, marker: String) {
        let request = Request::post(format!("/notes/{marker}")).json(&json!({ "marker": marker }));
        self.until_known(SoakCall { operation: SoakOperation::Write, marker, decision: None, request }).await;
    }

    async fn read(&self, marker: String) {
        let request = Request::get(format!("/accounts/{marker}"));
        self.until_known(SoakCall { operation: SoakOperation::Read, marker, decision: None, request }).await;
    }

    /// Repeats the call as long as nothing happened.
    async fn until_known(&self, call: SoakCall) {
        for _ in 0..TRIES {
            let (told, _) = self.call(call.clone()).await;
            if told != ReportedResult::Denied {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.load.record.pages().given_up += 1;
    }

    /// Sends the call once and records the response. An expired token is replaced for the next call.
    pub(super) async fn call(&self, call: SoakCall) -> (ReportedResult, Option<Answer>) {
        let token = self.access_token.lock().await.clone();
        let request = self.signed(call.request, &token).with("x-agent-intent-type", INTENT);
        let invoked = self.load.record.now();
        let answer = http::send(&self.load.any_gateway(), request, PATIENCE).await;
        let (told, name) = classify(&answer);
        let returned = self.load.record.now();
        let SoakCall { operation, marker, decision, .. } = call;
        self.load.record.attempt(Attempt { operation, marker, decision, invoked, returned, told, answer: name });
        self.replace(&answer, &token).await;
        (told, answer.ok())
    }

    /// Reads one of its own decisions.
    pub(super) async fn decision(&self, id: &str, wait_s: u64) -> Option<Answer> {
        self.decision_at(&self.load.any_public(), id, wait_s).await
    }

    pub(super) async fn decision_at(&self, at: &Listener, id: &str, wait_s: u64) -> Option<Answer> {
        let token = self.access_token.lock().await.clone();
        let request = Request::get(format!("/v1/decisions/{id}?wait={wait_s}")).bearer(&token);
        let answer = http::send(at, request.with("aap-version", "2.0"), PATIENCE + Duration::from_secs(wait_s)).await;
        self.replace(&answer, &token).await;
        match &answer {
            Ok(answer) if answer.status >= 400 => {
                self.load.record.trouble(&format!("/v1/decisions: {} {}", answer.status, answer.json()))
            }
            Ok(_) => {}
            Err(why) => self.load.record.trouble(&format!("/v1/decisions: {why}")),
        }
        answer.ok()
    }

    fn signed(&self, request: Request, token: &str) -> Request {
        request
            .bearer(token)
            .with("aap-version", "2.0")
            .with("x-agent-mode", "user_delegated")
            .with("x-agent-session", &self.session)
            .with("x-agent-delegation", &self.delegation)
    }

    async fn replace(&self, answer: &Result<Answer, NoAnswer>, token: &str) {
        if answer.as_ref().is_ok_and(|answer| answer.status == 401)
            && let Err(why) = self.register(token).await
        {
            self.load.record.trouble(&why);
        }
    }
}

async fn post(at: &Listener, path: &str, body: &Value) -> anyhow::Result<Value> {
    let request = Request::post(path).json(body).with("aap-version", "2.0");
    let answer = http::send(at, request, PATIENCE).await.map_err(|why| anyhow::anyhow!("{path}: {why}"))?;
    ensure!((200..300).contains(&answer.status), "{path}: {} {}", answer.status, answer.json());
    Ok(answer.json())
}
