//! Messages to operators' webhooks about auto-revokes (AAP 8.5, 17.8), received by a real TLS server.

mod delivery;
mod failures;
mod judge;
mod lasting;
mod secrets;

use countersign_engine::{Engine, OutboxMessage, OutboxState};
use countersign_protocol::domain::Domain;
use countersign_server::admin::{
    AdminRefusal, AdminRequest as _, CreateWebhookSecret, CreatedWebhookSecret, ListWebhookMessages,
};
use countersign_testkit::{AgentFixture, Kit, Plane, Setup};
use serde_json::Value;
use std::sync::Arc;

/// The life of every delegation here.
const LIFE_S: i64 = 1800;

fn half_an_hour() -> Setup {
    Setup::with_project(|document| document.max_duration = "30m".into())
}

/// Acme has a webhook and a secret, and alice has delegated to it.
async fn enrolled(kit: Kit) -> (AgentFixture, String) {
    enrolled_on(kit.plane_with(half_an_hour()).await).await
}

async fn enrolled_on(plane: Plane) -> (AgentFixture, String) {
    plane.acme().publish_webhook();
    let secret = enrol(&plane, None, "acme.test").await.unwrap().secret;
    (AgentFixture::on(plane, &["calendar.read"]).await, secret)
}

async fn enrol(plane: &Plane, project: Option<&str>, operator: &str) -> Result<CreatedWebhookSecret, AdminRefusal> {
    let operator = Domain::parse(operator).unwrap();
    CreateWebhookSecret { project: project.map(str::to_owned), operator }.run(&plane.engine).await
}

/// All messages of the project, oldest first.
async fn messages(plane: &Plane, project: Option<&str>) -> Vec<OutboxMessage> {
    messages_of(&plane.engine, project, false).await
}

async fn messages_of(engine: &Arc<Engine>, project: Option<&str>, dead: bool) -> Vec<OutboxMessage> {
    let list = ListWebhookMessages { project: project.map(str::to_owned), dead, before: None, limit: 1000 };
    let mut found = list.run(engine).await.unwrap();
    found.reverse();
    found
}

async fn message(plane: &Plane) -> OutboxMessage {
    let [message] = messages(plane, None).await.try_into().expect("one message");
    message
}

/// Advances the clock to the next attempt of the only message, and makes it.
async fn next_attempt(plane: &Plane) {
    let due = message(plane).await.due().expect("a pending message");
    let millis = due.millis_since(plane.now());
    let secs = millis.max(0).div_euclid(1000) + 1;
    assert_eq!(plane.advance_and_deliver(secs).await, 1);
}

fn attempts(message: &OutboxMessage) -> u32 {
    match message.state {
        OutboxState::Pending { attempts, .. }
        | OutboxState::Delivered { attempts, .. }
        | OutboxState::Dead { attempts, .. } => attempts,
    }
}

fn last_error(message: &OutboxMessage) -> &str {
    match &message.state {
        OutboxState::Pending { last_error: Some(why), .. } | OutboxState::Dead { last_error: why, .. } => why,
        other => panic!("{other:?}"),
    }
}

fn is_delivered(message: &OutboxMessage) -> bool {
    matches!(message.state, OutboxState::Delivered { status: 200, .. })
}

/// The entries about auto-revokes of alice's delegation.
async fn revocations(fixture: &AgentFixture) -> Vec<Value> {
    fixture.audit("event_type=auto_revoked").await["entries"].as_array().unwrap().clone()
}
