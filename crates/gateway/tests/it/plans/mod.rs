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
use countersign_testkit::bank::{BankFixture, GatewayRequest, Holder, PlanDraft};
use serde_json::Value;

/// The one response to a call without approval (C-01).
pub(crate) fn unconfirmed() -> (u16, String) {
    (403, "irreversible_requires_confirm".into())
}

/// The question of a held call.
pub(crate) async fn held(fixture: &BankFixture, sent: GatewayRequest) -> Value {
    held_as(fixture, &fixture.agent, sent).await
}

pub(crate) async fn held_as(fixture: &BankFixture, agent: &Holder, sent: GatewayRequest) -> Value {
    let answer = fixture.sends_as(agent, sent).await;
    assert_eq!(answer.refusal(), unconfirmed(), "{}", answer.text());
    let decision = BankFixture::decision(&answer);
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

pub(crate) async fn runs(fixture: &BankFixture, amount: &str) {
    fixture.sends(BankFixture::transfer_of(amount)).await.expect(201);
}

/// The status of a plan, and of each of its steps.
pub(crate) fn statuses(plan: &str, steps: &[&str]) -> (String, Vec<String>) {
    (plan.into(), steps.iter().map(|status| (*status).to_owned()).collect())
}

/// The bank's current document, with a change.
pub(crate) async fn applies(fixture: &BankFixture, change: impl FnOnce(&mut ProjectDocument)) {
    let mut document = (*fixture.plane.at().await.project.document).clone();
    change(&mut document);
    fixture.plane.engine.apply_project(document, "test").await.expect("a sound document");
}

/// The last use of an approval, as its agent reads it.
pub(crate) async fn last_use(fixture: &BankFixture, decision: &Value) -> Value {
    fixture.reads_decision(&fixture.agent, decision).await["execution"].clone()
}
