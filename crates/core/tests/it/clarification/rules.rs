//! Rules and plans of the test fixture: one of every kind of gap.

use countersign_protocol::project::ProjectDocument;
use serde_json::{Map, Value, json};

/// A plan without gaps.
pub(crate) fn complete() -> Map<String, Value> {
    let plan = json!({
        "target": "Staging", "region": "eu", "amount": 5, "urgent": false, "owner": "ops", "note": "in the morning",
    });
    plan.as_object().unwrap().clone()
}

/// The complete plan without these members.
pub(crate) fn without(fields: &[&str]) -> Value {
    let all = complete().into_iter().filter(|(name, _)| !fields.contains(&name.as_str()));
    Value::Object(all.collect())
}

/// The plan with other members added.
pub(crate) fn changed(plan: Value, with: Value) -> Value {
    let members = plan.as_object().unwrap().clone().into_iter().chain(with.as_object().unwrap().clone());
    Value::Object(members.collect())
}

/// The id of the only agent with a key listed in the project document.
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

/// Each rule's id is the field it asks about; `window` comes up only after `target` was answered.
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
