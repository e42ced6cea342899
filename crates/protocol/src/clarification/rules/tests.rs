use super::{AnswerKind, ClarificationPolicy, LooksFor, Rule};
use serde_json::{Value, json};

fn required(with: Value) -> Value {
    let mut rule = json!({ "id": "r", "kind": "required", "field": "a.b", "question": "which?", "context": "why" });
    rule.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    rule
}

fn refusal(rule: Value) -> String {
    serde_json::from_value::<Rule>(rule).unwrap_err().to_string()
}

#[test]
fn a_member_that_neither_the_rule_nor_its_kind_has_is_refused_by_name() {
    assert!(refusal(required(json!({ "colour": "red" }))).contains("`colour`"));
    // A member of another kind has no effect here, so it is a mistake.
    assert!(refusal(required(json!({ "phrases": ["x"] }))).contains("`phrases`"));
    assert!(refusal(required(json!({ "when": [{ "field": "a", "equals": 1 }] }))).contains("`equals`"));
    assert!(refusal(required(json!({ "kind": "guess" }))).contains("`guess`"));
    let policy = serde_json::from_value::<ClarificationPolicy>(json!({ "rule": [] }));
    assert!(policy.unwrap_err().to_string().contains("`rule`"));
}

/// WWA-4-10
#[test]
fn a_severity_other_than_the_two_is_refused() {
    for severity in ["INFO", "block", "Warn", ""] {
        assert!(refusal(required(json!({ "severity": severity }))).contains("expected `WARN` or `BLOCK`"));
    }
    for severity in ["WARN", "BLOCK"] {
        assert!(serde_json::from_value::<Rule>(required(json!({ "severity": severity }))).is_ok());
    }
}

#[test]
fn every_required_member_is_required() {
    for member in ["id", "kind", "field", "question", "context"] {
        let mut rule = required(json!({}));
        rule.as_object_mut().unwrap().remove(member);
        assert!(refusal(rule).contains(&format!("`{member}`")), "{member}");
    }
}

#[test]
fn a_rule_is_read_as_it_was_written() {
    let written =
        required(json!({ "answer": "number", "suggestions": ["1"], "when": [{ "field": "c", "present": true }] }));
    let rule: Rule = serde_json::from_value(written).unwrap();
    assert_eq!(rule.looks_for, LooksFor::Required { field: "a.b".into() });
    assert_eq!((rule.answer, rule.severity), (AnswerKind::Number, None));
    let again: Rule = serde_json::from_value(serde_json::to_value(&rule).unwrap()).unwrap();
    assert_eq!(again, rule);
}

#[test]
fn a_policy_that_says_nothing_is_the_default() {
    let policy: ClarificationPolicy = serde_json::from_value(json!({})).unwrap();
    assert!(policy.is_default() && policy.pack);
}
