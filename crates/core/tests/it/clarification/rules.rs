//! The rules and plans of the small world: one of everything that a gap can be.

use countersign_protocol::project::ProjectDocument;
use serde_json::{Map, Value, json};

/// A plan in which nothing is unclear.
pub(crate) fn complete() -> Map<String, Value> {
    let plan = json!({
        "target": "Staging", "region": "eu", "amount": 5, "urgent": false, "owner": "ops", "note": "in the morning",
    });
    plan.as_object().unwrap().clone()
}

/// The same without some of its members.
pub(crate) fn without(fields: &[&str]) -> Value {
    let all = complete().into_iter().filter(|(name, _)| !fields.contains(&name.as_str()));
    Value::Object(all.collect())
}

/// And with others in it.
pub(crate) fn changed(plan: Value, with: Value) -> Value {
    let members = plan.as_object().unwrap().clone().into_iter().chain(with.as_object().unwrap().clone());
    Value::Object(members.collect())
}

/// The key of the one agent that the project knows by its key.
pub(crate) const KNOWN: &str = "helper-1";

pub(crate) fn document(known_key: &str) -> ProjectDocument {
    serde_json::from_value(json!({
        "id": "small",
        "actions": [
            { "name": "lamp.dim", "irreversible": false, "risk": "low" },
            { "name": "money.pay", "risk": "high" },
        ],
        "decisions": { "max_open_per_agent": 1000, "max_open_per_person": 1000, "max_raised_per_hour": 100_000 },
        "clarification": {
            "pack": false, "session_seconds": 3600, "agents": { KNOWN: known_key }, "rules": rules(),
        },
    }))
    .unwrap()
}

/// What each of them asks about is its own id; `window` comes up only by the answer to `target`.
fn rules() -> Value {
    json!([
        rule("target", json!({ "kind": "required", "field": "target", "suggestions": ["Staging", "Production"] })),
        rule(
            "region",
            json!({
                "kind": "required", "field": "region", "severity": "WARN",
                "suggestions": ["eu", "us"], "suggestions_exclusive": true,
            })
        ),
        rule("amount", json!({ "kind": "required", "field": "amount", "answer": "number" })),
        rule("urgent", json!({ "kind": "required", "field": "urgent", "answer": "boolean", "severity": "WARN" })),
        rule("owner", json!({ "kind": "required", "field": "owner", "person": true })),
        rule("note", json!({ "kind": "ambiguous", "fields": ["note"], "phrases": ["the usual"] })),
        rule("window", json!({ "kind": "input", "field": "target", "equals": ["Production"], "needs": ["window"] })),
    ])
}

pub(crate) fn rule(id: &str, with: Value) -> Value {
    changed(json!({ "id": id, "question": "what is {field}?", "context": "nobody may guess it" }), with)
}
