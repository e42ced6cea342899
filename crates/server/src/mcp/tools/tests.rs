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
fn exactly_what_makes_plans_and_attestations_is_marked() {
    let marked: Vec<&str> = ALL.iter().filter(|tool| tool.generates).map(|tool| tool.name).collect();
    assert_eq!(marked, ["propose_plan", "wwa_clarify_confirm", "wwa_scaffold_plan", "wwa_scaffold_attest"]);
}

/// the words that a decision is given with are in no tool's hand.
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
