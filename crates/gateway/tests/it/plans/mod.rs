//! Calls that an approved plan or a standing approval lets run without a further question, and those that it does
//! not.

mod before;
mod bounded;
mod forty;
mod isolation;
mod order;
mod progress;
mod races;
mod restart;
mod revoked;
mod risk;
mod sums;
mod tools;

use countersign_protocol::project::ProjectDocument;
use countersign_testkit::bank::{BankScene, GatewayRequest, Holder, PlanDraft};
use serde_json::Value;

/// The one response to a call without approval (C-01).
pub(crate) fn unconfirmed() -> (u16, String) {
    (403, "irreversible_requires_confirm".into())
}

/// The question of a held call.
pub(crate) async fn held(scene: &BankScene, sent: GatewayRequest) -> Value {
    held_as(scene, &scene.agent, sent).await
}

pub(crate) async fn held_as(scene: &BankScene, agent: &Holder, sent: GatewayRequest) -> Value {
    let answer = scene.sends_as(agent, sent).await;
    assert_eq!(answer.refusal(), unconfirmed(), "{}", answer.text());
    let decision = BankScene::decision(&answer);
    assert_eq!(decision["state"], "pending", "nobody is asked: {decision}");
    decision
}

/// The deviation of a held call from the plan, as its agent receives it.
pub(crate) fn difference(decision: &Value, draft: &PlanDraft) -> String {
    let told = &decision["plan_difference"];
    assert_eq!(told["plan_id"], draft.id(), "nothing is said of the plan: {decision}");
    let lines = told["lines"].as_array().expect("lines");
    lines.iter().map(|line| line.as_str().expect("a text")).collect::<Vec<_>>().join("; ")
}

pub(crate) async fn runs(scene: &BankScene, amount: &str) {
    scene.sends(BankScene::transfer_of(amount)).await.expect(201);
}

/// The status of a plan, and of each of its steps.
pub(crate) fn statuses(plan: &str, steps: &[&str]) -> (String, Vec<String>) {
    (plan.into(), steps.iter().map(|status| (*status).to_owned()).collect())
}

/// The bank's current document, with a change.
pub(crate) async fn applies(scene: &BankScene, change: impl FnOnce(&mut ProjectDocument)) {
    let mut document = scene.plane.at().await.project.document.clone();
    change(&mut document);
    scene.plane.engine.apply_project(document, "test").await.expect("a sound document");
}

/// The last use of an approval, as its agent reads it.
pub(crate) async fn last_use(scene: &BankScene, decision: &Value) -> Value {
    scene.reads_decision(&scene.agent, decision).await["execution"].clone()
}
