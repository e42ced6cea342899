use super::person;
use crate::clarification::rules::Rules;
use countersign_protocol::{clarification::ClarificationPolicy, project::ProjectDocument};
use serde_json::{Value, json};

/// Two tools, one reversible and one irreversible.
fn document(clarification: Value) -> ProjectDocument {
    serde_json::from_value(json!({
        "id": "small",
        "actions": [
            { "name": "lamp.dim", "irreversible": false, "risk": "low" },
            { "name": "money.pay", "risk": "high" },
        ],
        "clarification": clarification,
    }))
    .unwrap()
}

fn policy(rule: Value) -> Value {
    let base = json!({ "id": "r", "kind": "required", "field": "x", "question": "what?", "context": "because" });
    let members = base.as_object().unwrap().clone().into_iter().chain(rule.as_object().unwrap().clone());
    json!({ "pack": false, "rules": [Value::Object(members.collect())] })
}

/// Whether a person must answer, for each gap of a plan in order.
fn owed_of(document: &ProjectDocument, plan: &Value) -> Vec<bool> {
    let rules = Rules::compile(&document.clarification).unwrap();
    let found = rules.findings(plan).unwrap();
    assert!(!found.is_empty());
    found.iter().map(|finding| person(document, plan, finding)).collect()
}

fn owed(rule: Value, plan: Value) -> bool {
    let owed = owed_of(&document(policy(rule)), &plan);
    assert_eq!(owed.len(), 1);
    owed[0]
}

fn runs(tool: &str) -> Value {
    json!({ "actions": { "one": { "tool": tool } } })
}

/// WWA-6.2-06
#[test]
fn a_rules_severity_counts_for_every_subject() {
    for tool in ["lamp.dim", "money.pay"] {
        for severity in ["WARN", "BLOCK"] {
            assert!(owed(json!({ "person": true, "severity": severity }), runs(tool)));
            assert!(!owed(json!({ "person": false, "severity": severity }), runs(tool)));
        }
    }
}

/// WWA-6.2-06
#[test]
fn a_block_on_something_irreversible_or_unknown_needs_a_persons_answer_and_a_warning_never() {
    for (tool, expected) in [("money.pay", true), ("nobody.knows", true), ("", true), ("lamp.dim", false)] {
        assert_eq!(owed(json!({}), runs(tool)), expected, "{tool}");
        assert!(!owed(json!({ "severity": "WARN" }), runs(tool)), "{tool}");
    }
    for odd in [json!({ "actions": { "one": {} } }), json!({ "actions": { "one": 5 } })] {
        assert!(owed(json!({}), odd.clone()), "what runs there is not known: {odd}");
    }
}

#[test]
fn a_plan_that_runs_nothing_is_the_agents_own_to_clear() {
    for plan in [json!({}), json!({ "actions": {} }), json!({ "actions": [] }), json!({ "actions": "money.pay" })] {
        assert!(!owed(json!({}), plan.clone()), "{plan}");
    }
}

#[test]
fn one_irreversible_step_makes_gaps_of_the_whole_plan_a_persons() {
    let plan = json!({ "actions": { "one": { "tool": "lamp.dim" }, "two": { "tool": "money.pay" } } });
    assert!(owed(json!({}), plan));
}

#[test]
fn a_gap_about_a_step_is_decided_by_that_step() {
    let rule = json!({ "field": "actions.*.to" });
    let document = document(policy(rule));
    let plan = json!({ "actions": {
        "a": { "tool": "lamp.dim" }, "b": { "tool": "money.pay" }, "c/d~": { "tool": "lamp.dim" },
    } });
    // The last step's name is escaped in a pointer, so no step matches and all steps are checked.
    assert_eq!(owed_of(&document, &plan), [false, true, true]);
}

/// WWA-4-14
#[test]
fn a_block_on_an_operation_that_runs_something_irreversible_needs_a_persons_answer() {
    let rules = policy(json!({ "blocked_operations": ["build"] }));
    for (actions, expected) in [
        (json!({ "build": ["money.pay"] }), true),
        (json!({ "build": ["lamp.dim", "money.pay"] }), true),
        (json!({ "build": ["lamp.dim"] }), false),
        (json!({ "planner": ["money.pay"] }), false),
        (json!({}), false),
    ] {
        let mut document = document(rules.clone());
        document.clarification.operations = serde_json::from_value(actions.clone()).unwrap();
        assert_eq!(owed_of(&document, &json!({})), [expected], "{actions}");
    }
}

#[test]
fn a_route_that_a_step_names_decides_before_its_tool() {
    let mut document = document(policy(json!({})));
    document.routes = serde_json::from_value(json!([
        { "id": "safe", "method": "POST", "path": "/safe", "action": "money.pay", "irreversible": false },
        { "id": "pay", "method": "POST", "path": "/pay", "action": "lamp.dim", "irreversible": true },
    ]))
    .unwrap();
    let plan = |route: Option<&str>, tool: &str| json!({ "actions": { "one": { "tool": tool, "route": route } } });
    assert_eq!(owed_of(&document, &plan(Some("pay"), "lamp.dim")), [true]);
    assert_eq!(owed_of(&document, &plan(Some("safe"), "money.pay")), [false]);
    assert_eq!(owed_of(&document, &plan(None, "lamp.dim")), [true], "the route of its action");
}

/// The built-in rules leave `person` to the default.
#[test]
fn the_built_in_rules_say_nothing_about_persons() {
    let document = ProjectDocument { clarification: ClarificationPolicy::default(), ..document(json!({})) };
    let plan = |tool: &str| json!({ "library": "the usual one", "actions": { "one": { "tool": tool } } });
    assert_eq!(owed_of(&document, &plan("lamp.dim")), [false]);
    assert_eq!(owed_of(&document, &plan("money.pay")), [true]);
}
