use super::operations_of;
use countersign_protocol::clarification::{ClarificationPolicy, Operation};
use serde_json::json;

fn policy() -> ClarificationPolicy {
    serde_json::from_value(json!({
        "operations": { "planner": ["plan.make"], "build": ["plan.make", "thing.make"], "attest": [] },
    }))
    .unwrap()
}

/// WWA-4-14
#[test]
fn an_action_belongs_to_every_operation_that_lists_it() {
    for held in [false, true] {
        assert_eq!(operations_of(&policy(), "plan.make", held), [Operation::Planner, Operation::Build]);
        assert_eq!(operations_of(&policy(), "thing.make", held), [Operation::Build]);
    }
}

#[test]
fn unlisted_actions_are_build_if_they_need_approval_and_nothing_otherwise() {
    for action in ["thing.look", "", "Thing.make"] {
        assert_eq!(operations_of(&policy(), action, true), [Operation::Build]);
        assert!(operations_of(&policy(), action, false).is_empty());
    }
}
