//! `clarify check`: offline gap detection, like a linter.

use super::{example, folder_with, in_the_guide, is_trouble};
use serde_json::{Value, json};

#[test]
fn an_unreadable_input_ends_with_2_and_a_reason() {
    let twice = r#"{"a": 1, "a": 2}"#;
    let rules = "[[rules]]\nid = \"x\"\nkind = \"required\"\nfield = \"a..b\"\nquestion = \"?\"\ncontext = \"!\"\n";
    let files = [("twice.json", twice), ("list.json", "[]"), ("plan.json", "{}"), ("bad.toml", rules)];
    let folder = folder_with("trouble", &[&files[..], &[("odd.toml", "rulez = []\n")]].concat());
    is_trouble(&folder.run("clarify check gone.json"), "gone.json: cannot be read", "");
    is_trouble(&folder.run("clarify check twice.json"), "twice.json: is not strict JSON", "occurs twice");
    is_trouble(
        &folder.run("clarify check list.json"),
        "list.json: is not a JSON object",
        "hint: a plan is a JSON object in",
    );
    is_trouble(&folder.run("clarify check plan.json --rules bad.toml"), "bad.toml: ", "hint: nothing was checked");
    is_trouble(&folder.run("clarify check plan.json --rules odd.toml"), "`rulez` is not a known key", "`rules`");
    is_trouble(&folder.run("clarify check plan.json --rules gone.toml"), "gone.toml: cannot be read", "");
    for arguments in ["clarify", "clarify check", "clarify rules", "clarify verify"] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments}");
    }
}

/// WWA-3-01, WWA-3-03
#[test]
fn gaps_end_with_1_and_are_listed_with_their_reasons() {
    let plan = r#"{"components": [{"name": "button\u001b[2J"}], "compliance": {"standards": ["GDPR"]}}"#;
    let folder = folder_with("gaps", &[("plan.json", plan)]);
    let ran = folder.run("clarify check plan.json");
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert!(ran.out.starts_with("plan.json needs clarification: 1 gap blocks, 1 gap warns\n"), "{}", ran.out);
    for line in [
        "component-type BLOCK at components[0].type",
        "compliance-overlap WARN at compliance.overlaps.gdpr-lgpd",
        "  Stops: planner, developer, build",
    ] {
        assert!(ran.out.lines().any(|said| said == line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains("\n  Why: ") && ran.out.contains("\n  Suggestions: partial-coverage-confirmed, "));
    assert!(!ran.out.contains('\u{1b}'));
    let fed = folder.run_fed("clarify check - --json", plan);
    let told: Value = serde_json::from_str(&fed.out).unwrap();
    assert_eq!(fed.code, 1);
    assert_eq!((&told["status"], &told["blocking_count"]), (&json!("needs_clarification"), &json!(1)));
    let gap = &told["gaps"][0];
    assert_eq!((&gap["rule"], &gap["pointer"]), (&json!("component-type"), &json!("/components/0/type")));
}

#[test]
fn a_plan_that_is_clear_ends_with_0() {
    let folder = folder_with("clear", &[("plan.json", r#"{"components": [{"type": "button"}]}"#)]);
    let ran = folder.run("clarify check plan.json");
    assert_eq!((ran.code, ran.out.as_str()), (0, "plan.json is ready: the rules find no gap\n"));
    let told: Value = serde_json::from_str(&folder.run("clarify check plan.json --json").out).unwrap();
    assert_eq!((&told["status"], &told["gaps"]), (&json!("ready_to_proceed"), &json!([])));
}

#[test]
fn rules_are_taken_from_a_project_or_from_a_file_of_their_own() {
    let project = "id = \"shop\"\n[clarification]\npack = false\n[[clarification.rules]]\nid = \"order\"\n\
                   kind = \"required\"\nfield = \"order\"\nperson = true\nquestion = \"Which order?\"\ncontext = \"None is named.\"\n";
    let plan = r#"{"library": "use the standard one"}"#;
    let folder =
        folder_with("sources", &[("plan.json", plan), ("shop.toml", project), ("bare.toml", "id = \"bare\"\n")]);
    let shop = folder.run("clarify check plan.json --rules shop.toml").out;
    assert!(shop.contains("\norder BLOCK at order\n  Which order?\n"), "{shop}");
    assert!(shop.ends_with("  A person must answer.\n") && !shop.contains("library"), "{shop}");
    let bare = folder.run("clarify check plan.json --rules bare.toml").out;
    assert!(bare.contains("ambiguous-identifier BLOCK at library"), "{bare}");
    let own = folder.run(&format!("clarify check {} --rules {}", example("plan.json"), example("bank.toml")));
    assert_eq!(own.code, 1, "{}", own.err);
    let shown = own.out.replace(&example("plan.json"), "examples/clarification/plan.json");
    assert_eq!(shown, in_the_guide("text"), "the guide shows something else");
}
