//! A call within the delegation and beyond the consent receipt (AAP 12.3): refused, asked about, or expanded silently.

mod answered;
mod asked;
mod ended;
mod shown;
mod silent;

use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer, TestPerson,
    bank::{BankFixture, GatewayRequest, Holder},
};
use http::Method;
use serde_json::{Value, json};

fn exceeded() -> (u16, String) {
    (403, "consent_scope_exceeded".into())
}

/// Needs `bank.note`.
fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"text":"remember"}"#)
}

/// Needs `bank.payees`, an irreversible scope.
fn payee() -> GatewayRequest {
    GatewayRequest::new("DELETE", "/payees/theirs")
}

fn expanding(mode: &'static str) -> impl FnOnce(&mut ProjectDocument) {
    move |document| document.scope_expansion = mode.into()
}

/// Applies a changed document.
async fn changes(scene: &BankFixture, change: impl FnOnce(&mut ProjectDocument)) {
    let mut document = (*scene.plane.at().await.project.document).clone();
    change(&mut document);
    scene.plane.engine.apply_project(document, "test").await.expect("a sound document");
}

/// A task with consent to read, under a delegation with every scope of the bank.
async fn reader(scene: &BankFixture) -> Holder {
    scene.with_receipt(|claims| claims["scopes"] = json!(["bank.read"])).await
}

/// The request that a refused call names.
async fn asks(scene: &BankFixture, agent: &Holder, sent: GatewayRequest) -> Value {
    let refused = scene.sends_as(agent, sent).await;
    assert_eq!(refused.refusal(), exceeded(), "{}", refused.text());
    request_in(&refused)
}

fn request_in(refused: &Answer) -> Value {
    let request = refused.json()["scope_request"].clone();
    assert!(request["decision_id"].is_string(), "no request: {}", refused.text());
    request
}

async fn polls(scene: &BankFixture, agent: &Holder) -> Value {
    polls_for(scene, agent, &agent.session_id).await.expect(200).json()
}

async fn polls_for(scene: &BankFixture, agent: &Holder, session_id: &str) -> Answer {
    scene.requests(agent, Method::GET, &format!("/agent/scope-approval?session_id={session_id}")).await
}

async fn pending(scene: &BankFixture) -> usize {
    scene.alice.pending_questions(&scene.plane).await
}

/// The outcomes of the audit entries about expansions, oldest first.
async fn recorded(scene: &BankFixture) -> Vec<String> {
    entries(scene).await.iter().map(|entry| entry["outcome"].as_str().unwrap().to_owned()).collect()
}

async fn entries(scene: &BankFixture) -> Vec<Value> {
    let query = format!("/agent/audit?delegation_id={}&event_type=scope_expansion", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

/// The expansions of the fixture's delegation in a person's access summary.
async fn summary(scene: &BankFixture, who: &TestPerson) -> Vec<Value> {
    let summary = who.get(&scene.plane, "/agent/access-summary").await.expect(200).json();
    let delegations = summary["delegations"].as_array().unwrap().iter();
    delegations.flat_map(|one| one["scope_expansions"].as_array().cloned().unwrap_or_default()).collect()
}
