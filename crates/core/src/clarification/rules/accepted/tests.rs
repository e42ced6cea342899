use super::{CannotWrite, accepted_plan, write_answer};
use countersign_protocol::clarification::AnswerKind::{self, Boolean, Number, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

fn written(plan: Value, pointer: &str, kind: AnswerKind, text: &str) -> Result<Value, CannotWrite> {
    let mut plan = plan;
    write_answer(&mut plan, pointer, kind, text).map(|()| plan)
}

#[test]
fn an_answer_never_replaces_a_value_that_stands_in_its_way() {
    let through = |plan| written(plan, "/build/output/directory", Text, "dist").unwrap_err();
    for scalar in [json!("x"), json!(""), json!(1), json!(false)] {
        let wanted = CannotWrite::Through { pointer: "/build/output/directory".into(), at: "build.output".into() };
        assert_eq!(through(json!({ "build": { "output": scalar } })), wanted);
    }
    for held in [json!({ "b": 1 }), json!([]), json!({})] {
        let wanted = CannotWrite::Through { pointer: "/a".into(), at: "a".into() };
        assert_eq!(written(json!({ "a": held }), "/a", Text, "x"), Err(wanted));
    }
    for (plan, pointer) in [
        (json!({ "a": [1] }), "/a/1"),
        (json!({ "a": [1] }), "/a/-"),
        (json!({ "a": [1] }), "/a/00"),
        (json!([]), "/x"),
    ] {
        assert!(matches!(written(plan, pointer, Text, "x"), Err(CannotWrite::NoItem { .. })), "{pointer}");
    }
    for pointer in ["", "a", "a/b"] {
        assert!(matches!(written(json!({}), pointer, Text, "x"), Err(CannotWrite::NoPointer(_))), "{pointer}");
    }
}

#[test]
fn an_answer_that_is_not_of_its_kind_is_not_written() {
    for (kind, text) in
        [(Number, "ten"), (Number, "9007199254740992"), (Number, "0.1234567890123456"), (Boolean, "yes")]
    {
        assert!(matches!(written(json!({}), "/a", kind, text), Err(CannotWrite::NotOfTheKind { .. })), "{text}");
    }
}

#[test]
fn missing_parents_are_made_and_items_are_found() {
    assert_eq!(written(json!({}), "/a/b/c", Text, "x"), Ok(json!({ "a": { "b": { "c": "x" } } })));
    assert_eq!(written(json!({ "a": null }), "/a/b", Text, "x"), Ok(json!({ "a": { "b": "x" } })));
    assert_eq!(written(json!({ "a": [{}, {}] }), "/a/1/b", Text, "x"), Ok(json!({ "a": [{}, { "b": "x" }] })));
    assert_eq!(written(json!({}), "/a~1b/0", Text, "x"), Ok(json!({ "a/b": { "0": "x" } })));
}

#[test]
fn an_answer_is_written_as_its_kind() {
    assert_eq!(written(json!({}), "/a", Number, " 12.5 "), Ok(json!({ "a": 12.5 })));
    assert_eq!(written(json!({}), "/a", Number, "9007199254740991"), Ok(json!({ "a": 9_007_199_254_740_991_i64 })));
    assert_eq!(written(json!({}), "/a", Boolean, "TRUE"), Ok(json!({ "a": true })));
    assert_eq!(written(json!({}), "/a", Text, " 12 "), Ok(json!({ "a": " 12 " })));
    for kind in [Number, Boolean, Text] {
        assert_eq!(written(json!({}), "/a", kind, "accept"), Ok(json!({ "a": "accept" })));
    }
}

/// Every scalar of a value with its pointer.
pub(crate) fn leaves(value: &Value) -> Vec<(String, Value)> {
    let below = |step: String, value: &Value| {
        let leaves = leaves(value).into_iter();
        leaves.map(move |(way, leaf)| (format!("/{step}{way}"), leaf)).collect::<Vec<_>>()
    };
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(name, value)| below(name.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().flat_map(|(n, value)| below(n.to_string(), value)).collect(),
        leaf => vec![(String::new(), leaf.clone())],
    }
}

proptest! {
    #[test]
    fn every_leaf_of_the_accepted_plan_is_the_plans_or_an_answer_and_none_is_lost(
        plan in super::super::tests::plans(),
        answers in proptest::collection::vec((proptest::collection::vec("[ab~/0]{0,2}", 1..4), "[a-z]{1,4}"), 0..4),
    ) {
        let answers: Vec<(String, String)> =
            answers.into_iter().map(|(way, text)| (way.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect(), text)).collect();
        let given = answers.iter().map(|(pointer, text)| (pointer.as_str(), Text, text.as_str()));
        let Ok(accepted) = accepted_plan(&plan, given) else { return Ok(()) };
        for (way, leaf) in leaves(&accepted) {
            let said = answers.iter().any(|(pointer, text)| *pointer == way && leaf == text.as_str());
            prop_assert!(said || plan.pointer(&way) == Some(&leaf), "{way}: {leaf}");
        }
        for (way, leaf) in leaves(&plan) {
            let replaced = |(pointer, _): &(String, String)| {
                *pointer == way || (leaf.is_null() && pointer.starts_with(&format!("{way}/")))
            };
            prop_assert!(accepted.pointer(&way) == Some(&leaf) || answers.iter().any(replaced), "{way} was lost");
        }
    }
}
