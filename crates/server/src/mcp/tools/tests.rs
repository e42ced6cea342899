use super::*;
use std::collections::BTreeSet;

#[test]
fn every_tool_has_a_name_of_its_own_that_every_client_takes() {
    let names: BTreeSet<&str> = ALL.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), ALL.len());
    for name in names {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!((1..=64).contains(&name.len()) && name.chars().all(fits), "{name}");
        assert_eq!(find(name).map(|tool| tool.name), Some(name));
    }
    assert!(find("").is_none() && find("Request_Confirmation").is_none());
}

/// W-26
#[test]
fn exactly_the_operations_that_make_plans_and_attestations_are_marked() {
    let marked: Vec<&str> = ALL.iter().filter(|tool| tool.generates).map(|tool| tool.name).collect();
    assert_eq!(marked, ["propose_plan", "wwa_clarify_confirm", "wwa_scaffold_plan", "wwa_scaffold_attest"]);
}

/// no tool takes an argument that could express a person's decision.
#[test]
fn no_tool_takes_a_decision_of_a_person() {
    for tool in ALL {
        let taken = (tool.input)();
        let members = taken.get("properties").and_then(serde_json::Value::as_object).cloned().unwrap_or_default();
        for word in ["decision", "approve", "approved", "accept", "answer_by", "decided_by"] {
            assert!(!members.contains_key(word), "{} takes {word}", tool.name);
        }
    }
}

/// A model reads all definitions before it does anything.
#[test]
fn all_tools_together_take_less_than_25_kilobytes() {
    let told: Vec<String> =
        ALL.iter().map(|tool| serde_json::to_string(&super::super::descriptions::definition(tool)).unwrap()).collect();
    let sizes: Vec<(&str, usize)> = ALL.iter().map(|tool| tool.name).zip(told.iter().map(String::len)).collect();
    let whole: usize = sizes.iter().map(|(_, size)| size + 1).sum();
    assert!(whole < 25_000, "{whole} bytes: {sizes:#?}");
}

/// A model fills in only the arguments it understands.
#[test]
fn every_argument_is_described_in_words_without_ids_of_ours() {
    for tool in ALL {
        let input = serde_json::Value::Object((tool.input)());
        for (name, member) in input["properties"].as_object().unwrap() {
            let words = member["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "{} does not say what {name} is", tool.name);
        }
        let all = format!("{input} {} {}", tool.description, serde_json::Value::Object((tool.output)()));
        for id in ["(R-", "(C-", "(W-", "(M-", "(E-", "(AAP ", "$ref"] {
            assert!(!all.contains(id), "{} has {id}: {all}", tool.name);
        }
    }
}
