//! Helpers for the tests of held calls.

use axum::{Router, body::Body};
use countersign_testkit::{
    Answer, TestPerson, agent_request,
    bank::{BankFixture, GatewayRequest, Holder},
};
use http::{Method, header};
use serde_json::{Value, json};

/// The one response to a call without approval (C-01).
pub(super) fn unconfirmed() -> (u16, String) {
    (403, "irreversible_requires_confirm".into())
}

pub(super) fn id(decision: &Value) -> &str {
    decision["decision_id"].as_str().expect("a decision's id")
}

/// The usual transfer, with a confirmation header.
pub(super) fn confirmed_transfer() -> GatewayRequest {
    BankFixture::transfer().confirmed("true")
}

pub(super) fn refund(payment: &str, note: &str) -> GatewayRequest {
    GatewayRequest::new("POST", "/refunds").json(json!({ "payment_id": payment, "note": note }).to_string())
}

pub(super) fn redeem(decision: &Value) -> GatewayRequest {
    GatewayRequest::new("POST", &format!("/.countersign/decisions/{}/redeem", id(decision)))
}

/// The decision that a refused call names.
pub(super) async fn asked(scene: &BankFixture, sent: GatewayRequest) -> Value {
    let held = scene.sends(sent).await;
    assert_eq!(held.refusal(), unconfirmed(), "{}", held.text());
    BankFixture::decision(&held)
}

/// The confirmation token of an accepted decision, as its agent receives it.
pub(super) async fn token(scene: &BankFixture, decision: &Value) -> String {
    scene.reads_decision(&scene.agent, decision).await["confirm_token"].as_str().expect("a token").to_owned()
}

/// The state of a decision's execution.
pub(super) async fn execution(scene: &BankFixture, decision: &Value) -> Value {
    scene.reads_decision(&scene.agent, decision).await["execution"]["state"].clone()
}

/// A POST with a body to the plane's own endpoints, with the agent's credentials.
pub(super) async fn posts(scene: &BankFixture, agent: &Holder, path: &str, body: &Value) -> Answer {
    let url = format!("{}{path}", scene.plane.service());
    for _ in 0..2 {
        let mut request = agent_request(Method::POST, path).header(header::AUTHORIZATION, agent.authorization());
        if let Some(proof) = agent.proof("POST", &url, scene.plane.now()) {
            request = request.header("dpop", proof);
        }
        let answer = scene.plane.send(request.body(Body::from(body.to_string())).unwrap()).await;
        agent.takes_nonce(answer.header("dpop-nonce"));
        if answer.status != 401 || answer.header("dpop-nonce").is_none() {
            return answer;
        }
    }
    panic!("no nonce was good enough")
}

/// Alice revokes the agent's access.
pub(super) async fn revoke(scene: &BankFixture) {
    let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
    scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
}

/// A person records the outcome of a request on the page.
pub(super) async fn reconciles(scene: &BankFixture, who: &TestPerson, decision: &Value, ran: &str) -> Answer {
    reconciles_at(&scene.plane.public, scene, who, decision, ran).await
}

/// The same at this node.
pub(super) async fn reconciles_at(
    node: &Router,
    scene: &BankFixture,
    who: &TestPerson,
    decision: &Value,
    ran: &str,
) -> Answer {
    let looked = scene.reads_decision(&scene.agent, decision).await;
    let execution = looked["execution"]["execution_id"].as_str().expect("an execution").to_owned();
    let path = format!("/inbox/bank/{}/executions/{execution}", id(decision));
    let form = format!("csrf={}&ran={ran}&reason=It+stands+in+the+ledger", who.csrf);
    let request = who
        .request(Method::POST, &path)
        .header(header::ACCEPT, "text/html")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    Answer::to(node, request.body(Body::from(form)).unwrap()).await
}
