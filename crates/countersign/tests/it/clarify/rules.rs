//! Rules and their test cases.

use super::{example, folder_with, in_the_guide, is_trouble};
use serde_json::Value;

const RULES: &str = r#"
[[rules]]
id = "order"
kind = "required"
field = "order"
question = "Which order?"
context = "None is named."

[[cases]]
name = "no order"
plan = { shop = "north" }
gaps = [{ rule = "order", field = "orders", severity = "BLOCK" }]

[[cases]]
name = "an order"
plan = { order = "o-1" }
"#;

#[test]
fn rules_that_cannot_be_used_are_trouble_and_no_case_runs() {
    let twice = format!("{RULES}{}", RULES.split("[[cases]]").next().unwrap());
    let folder = folder_with("rules-bad", &[("good.toml", RULES), ("bad.toml", &twice)]);
    is_trouble(&folder.run("clarify rules test good.toml bad.toml"), "bad.toml: ", "order");
    is_trouble(&folder.run("clarify rules list bad.toml"), "bad.toml: ", "hint: ");
}

#[test]
fn a_case_that_fails_ends_with_1_and_names_the_expected_and_the_actual_value() {
    let folder = folder_with("rules-fail", &[("rules.toml", RULES)]);
    let ran = folder.run("clarify rules test rules.toml");
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let expected = "rules.toml\n  FAILED  no order\n          expected, not found: BLOCK of order at orders\n          \
                    found, not expected: BLOCK of order at order\n  ok      an order\n2 cases, 1 of them failed\n";
    assert_eq!(ran.out, expected);
    let told: Value = serde_json::from_str(&folder.run("clarify rules test rules.toml --json").out).unwrap();
    assert_eq!((&told["held"], &told["failed"]), (&1.into(), &1.into()));
    assert_eq!(
        (&told["cases"][0]["missing"][0]["field"], &told["cases"][1]["holds"]),
        (&"orders".into(), &true.into())
    );
}

#[test]
fn the_cases_of_the_built_in_rules_and_of_the_examples_hold() {
    let folder = folder_with("rules-hold", &[("none.toml", "pack = true\n")]);
    let built_in = folder.does("clarify rules test");
    assert!(built_in.starts_with("the built-in rules\n  ok      ") && built_in.ends_with(" cases, all hold\n"));
    let examples = folder.does(&format!("clarify rules test {}", example("bank.toml")));
    assert!(examples.ends_with("4 cases, all hold\n"), "{examples}");
    assert!(folder.does("clarify rules test none.toml").ends_with("there are no cases, so nothing was tested\n"));
}

#[test]
fn rules_are_listed_with_their_subjects_for_eyes_and_for_ears() {
    let folder = folder_with("rules-list", &[("rules.toml", RULES), ("own.toml", &format!("pack = false\n{RULES}"))]);
    let listed = folder.does("clarify rules list rules.toml");
    assert!(listed.lines().any(|line| line.starts_with("component-type ")), "{listed}");
    assert!(listed.lines().last().unwrap().starts_with("order "), "{listed}");
    let alone: Value = serde_json::from_str(&folder.does("clarify rules list own.toml --json")).unwrap();
    assert_eq!((alone.as_array().unwrap().len(), &alone[0]["kind"]), (1, &"required".into()));
    let spoken = folder.run_with("clarify rules list own.toml", &[("ACCESSIBLE", "1")]).out;
    assert_eq!(spoken, "rule order, severity BLOCK, kind required, looks at order, cases 1.\n");
}

#[test]
fn the_rules_in_the_guide_hold() {
    let folder = folder_with("rules-guide", &[("guide.toml", in_the_guide("toml clarification"))]);
    let ran = folder.does("clarify rules test guide.toml");
    assert_eq!(ran, "guide.toml\n  ok      a transfer from nowhere\n1 case, all hold\n");
}
