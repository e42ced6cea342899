//! Test fixture for request rendering: a bank with one route that needs confirmation.

use countersign_core::held::{Fields, HttpRequest, UnreadableRequest};
use countersign_protocol::{
    ids::ProjectId,
    project::{ProjectDocument, Route},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const BODY: &str = r#"{"to":"acct-3344","amount":82000.10,"currency":"USD"}"#;

/// The default route with some members overwritten.
pub(crate) fn route(with: Value) -> Route {
    let mut route = json!({
        "id": "transfers.create", "method": "POST", "path": "/v1/accounts/{account}/transfers", "action": "transfers.send",
        "irreversible": true, "headers": ["if-match"],
        "describe": { "action": "Send {body.amount} {body.currency} from {path.account} to {body.to}" },
    });
    merge(&mut route, with);
    serde_json::from_value(route).unwrap()
}

/// A valid document with that route.
pub(crate) fn document(with: Value) -> ProjectDocument {
    let mut document = json!({
        "id": "bank",
        "scopes": [
            { "id": "transfers.write", "description": "Send money", "allows": ["transfers.send"], "intent_types": ["PAY"] },
            { "id": "accounts.read", "description": "See accounts", "allows": ["accounts.read"], "intent_types": ["LOOK"] },
        ],
        "upstreams": [{ "id": "core", "url": "http://127.0.0.1:9000" }],
        "routes": [route(json!({}))],
    });
    merge(&mut document, with);
    serde_json::from_value(document).unwrap()
}

pub(crate) fn request(body: &str) -> HttpRequest {
    HttpRequest {
        method: "POST".into(),
        origin: "https://api.bank.example".into(),
        target: "/v1/accounts/main/transfers?notify=true".into(),
        content_type: "application/json".into(),
        content_encoding: String::new(),
        headers: BTreeMap::new(),
        body: body.as_bytes().to_vec(),
    }
}

pub(crate) fn read(request: &HttpRequest) -> Result<Fields, UnreadableRequest> {
    Fields::read(&route(json!({})), request)
}

pub(crate) fn bank() -> ProjectId {
    ProjectId::parse("bank").unwrap()
}

fn merge(into: &mut Value, with: Value) {
    let (Value::Object(into), Value::Object(with)) = (into, with) else { panic!("both must be objects") };
    for (name, value) in with {
        if value.is_null() {
            into.remove(&name)
        } else {
            into.insert(name, value)
        };
    }
}
