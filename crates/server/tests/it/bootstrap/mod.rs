//! From an operator's request to a delegation, step by step (AAP 5.1, 17.2; R-13).

mod admission;
mod consent;
mod disclosure;
mod exchange;
mod limit;
mod projects;
mod redelegation;
mod request;
mod token;

use countersign_engine::{
    Address,
    store::{self, AuditBy, AuditQuery, DelegationById},
};
use countersign_testkit::{Answer, Plane, TestPerson};
use serde_json::{Value, json};

/// The body of the first operator's connect request, with some members changed; null removes one.
fn connect_body(plane: &Plane, changes: Value) -> Value {
    changed(plane.connect_body(plane.acme(), &["calendar.read", "calendar.write"]), changes)
}

fn changed(mut body: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            body.as_object_mut().unwrap().remove(name);
        } else {
            body[name] = value.clone();
        }
    }
    body
}

async fn ask(plane: &Plane, changes: Value) -> Answer {
    plane.post("/agent/delegate/requests", &connect_body(plane, changes)).await
}

/// An open connect request.
async fn request(plane: &Plane, changes: Value) -> String {
    ask(plane, changes).await.expect(201).json()["request_id"].as_str().unwrap().to_owned()
}

/// A person's first step; returns the disclosure.
async fn show(plane: &Plane, person: &TestPerson, request: &str) -> Value {
    person.post(plane, "/agent/delegate", &json!({ "request_id": request })).await.expect(200).json()
}

/// The second step: the approval of a disclosure.
fn yes(request: &str, shown: &Value) -> Value {
    json!({ "request_id": request, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true })
}

async fn delegations(plane: &Plane, person: &TestPerson) -> usize {
    person.get(plane, "/v1/agents").await.expect(200).json()["agents"].as_array().unwrap().len()
}

/// The open part of a grant's entry in the evidence log.
async fn granted_leaf(plane: &Plane, delegation_id: &str) -> Value {
    let store = plane.engine.store();
    let project = plane.engine.project(&Address::Unscoped).await.unwrap().project.key;
    let lookup = DelegationById { project, id: delegation_id.to_owned() };
    let delegation = store::find_one(&**store, lookup).await.unwrap().unwrap();
    let query = AuditQuery {
        project,
        by: AuditBy::Delegation(vec![delegation.key]),
        from: None,
        to: None,
        event_type: Some("delegation_granted".into()),
        after: None,
        limit: 10,
    };
    let rows = store.audit(query).await.unwrap().rows;
    assert_eq!(rows.len(), 1, "one grant, one entry");
    serde_json::from_slice(&rows[0].leaf).unwrap()
}

/// The claims of a JWT, without verification.
fn claims_of(jwt: &str) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1).unwrap()).unwrap()).unwrap()
}
