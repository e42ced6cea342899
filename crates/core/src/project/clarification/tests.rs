use crate::project::check;
use serde_json::{Value, json};

/// The problems of a document with this clarification section.
fn problems(clarification: Value) -> Vec<String> {
    let document = json!({
        "id": "shop", "clarification": clarification, "actions": [{ "name": "deploy" }],
        "scopes": [{ "id": "site.write", "description": "x", "allows": ["publish"], "intent_types": ["PUBLISH"] }],
    });
    check(&serde_json::from_value(document).unwrap()).iter().map(ToString::to_string).collect()
}

fn refused(clarification: Value, at: &str, why: &str) {
    let found = problems(clarification);
    assert!(found.len() == 1 && found[0].starts_with(&format!("{at}: ")) && found[0].contains(why), "{found:?}");
}

fn rule(with: Value) -> Value {
    let mut rule = json!({ "id": "account", "kind": "required", "field": "account", "question": "which {field}?", "context": "x" });
    rule.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    rule
}

#[test]
fn an_empty_or_sound_document_is_applied() {
    assert_eq!(problems(json!({})), [""; 0]);
    let key = format!("ed25519:{}", "a".repeat(64));
    let sound = json!({
        "agent_id": "shop-v1", "session_seconds": 60, "agents": { "caller-1": key },
        "operations": { "build": ["deploy", "publish"] }, "rules": [rule(json!({}))],
        "cases": [
            { "name": "no account", "plan": {}, "gaps": [{ "rule": "account", "field": "account", "severity": "BLOCK" }] },
            { "name": "an account", "plan": { "account": "a" } },
        ],
    });
    assert_eq!(problems(sound), [""; 0]);
}

#[test]
fn bounds_names_and_keys_are_checked() {
    for seconds in [0, 59, 2_592_001] {
        refused(json!({ "session_seconds": seconds }), "clarification", "session_seconds must be 60 to 2592000");
    }
    for name in ["", "a b", "ü"] {
        refused(json!({ "agent_id": name }), "clarification", "agent_id");
    }
    for key in ["", "ed25519:abc", "rsa:abc"] {
        refused(json!({ "agents": { "caller-1": key } }), "clarification.agents.caller-1", "the key must");
    }
}

#[test]
fn an_action_that_nothing_has_is_no_part_of_an_operation() {
    let typo = json!({ "operations": { "build": ["deploy", "publsh"] } });
    refused(typo, "clarification.operations.build", "\"publsh\" is an action of no scope");
}

#[test]
fn a_rule_that_cannot_be_applied_is_named_with_its_member() {
    refused(
        json!({ "rules": [rule(json!({ "field": "a..b" }))] }),
        "clarification.rules[0]",
        "field has an invalid step at",
    );
    refused(json!({ "rules": [rule(json!({ "context": " " }))] }), "clarification.rules[0]", "context is blank");
    refused(json!({ "rules": [rule(json!({})), rule(json!({}))] }), "clarification.rules[0]", "id is another rule's");
}

#[test]
fn a_document_whose_own_case_fails_is_not_applied() {
    let case = json!({ "name": "an account", "plan": { "account": "a" },
                       "gaps": [{ "rule": "account", "field": "account", "severity": "BLOCK" }] });
    let failing = json!({ "rules": [rule(json!({}))], "cases": [case] });
    refused(failing, "clarification.cases[0]", r#"case "an account": did not find BLOCK of account at "account""#);
    let more = json!({ "cases": [{ "name": "c", "plan": { "x": "the usual one" } }] });
    refused(more, "clarification.cases[0]", "found BLOCK of ambiguous-identifier at \"x\" as well");
}
