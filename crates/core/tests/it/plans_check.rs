//! Validation of a document's plan and role settings: each problem is named with its correction.

use crate::held::document;
use countersign_core::project::check;
use serde_json::{Value, json};

fn problems(with: Value) -> String {
    check(&document(with)).iter().map(|problem| format!("{problem}\n")).collect()
}

/// The problems of this role, next to a role that approves.
fn of_role(role: Value) -> String {
    let approves = json!({ "name": "boss", "capabilities": ["confirm.approve"], "members": ["role:admin"] });
    problems(json!({ "roles": [role, approves] }))
}

fn refused(role: Value, why: &str) {
    let found = of_role(role.clone());
    assert!(found.contains("roles[0]: ") && found.contains(why), "{role}: {found:?}");
}

/// M-06
#[test]
fn every_kind_of_member_and_every_capability_is_known() {
    let role = json!({
        "role_id": "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d", "name": "dba reviewer",
        "capabilities": ["confirm.approve", "confirm.request", "confirm.override", "plan.create"],
        "members": ["role:user", "role:approver", "role:admin", "role:auditor", "user:alice", "agents",
                    "operator:acme.test", "key:the nightly job"],
    });
    assert_eq!(of_role(role), "");
    assert_eq!(problems(json!({ "roles": [] })), "");
}

/// M-06
#[test]
fn a_role_that_nobody_could_have_or_that_stands_for_nobody_is_refused() {
    let named = |name: &str| json!({ "name": name });
    for name in ["", " boss", "x\ny", &"x".repeat(65)] {
        refused(named(name), "name must be 1 to 64 characters");
    }
    for name in ["none", "system:timeout", "auto:yes"] {
        refused(named(name), "mean no person");
    }
    for member in ["", "agent", "role:owner", "role:", "user:", "key: ", "operator:Acme.test", "operator:x", "team:x"] {
        refused(json!({ "name": "x", "members": [member] }), "members are role:user");
    }
    refused(json!({ "name": "x", "capabilities": ["confirm.decide"] }), "capabilities are confirm.approve");
    refused(json!({ "name": "x", "capabilities": ["plan.create", "plan.create"] }), "has one twice");
}

/// M-06
#[test]
fn a_label_means_one_role_and_somebody_can_approve() {
    let id = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
    let approves = |name: &str, id: Option<&str>| {
        let mut role = json!({ "name": name, "capabilities": ["confirm.approve"] });
        role.as_object_mut().unwrap().extend(id.map(|id| ("role_id".to_owned(), json!(id))));
        role
    };
    for pair in [[("a", None), ("a", None)], [("a", Some(id)), ("b", Some(id))], [("a", Some(id)), (id, None)]] {
        let found = problems(json!({ "roles": pair.map(|(name, id)| approves(name, id)) }));
        assert_eq!(found, "roles[1]: two roles have the same name or role_id\n");
    }
    let found = problems(json!({ "roles": [{ "name": "a", "capabilities": ["confirm.override"] }] }));
    assert_eq!(found, "roles: no role has confirm.approve, so nobody could ever approve\n");
}

///
#[test]
fn the_bounds_of_plans_have_bounds() {
    let plans = |name: &str, value: i64| problems(json!({ "plans": { name: value } }));
    for (name, least, most) in [("timeout_seconds", 1, 86_400), ("max_uses", 1, 10_000), ("default_seconds", 1, 86_400)]
    {
        assert_eq!((plans(name, least), plans(name, most)), (String::new(), String::new()), "{name}");
        for beyond in [least - 1, most + 1, -1, i64::MAX] {
            assert!(plans(name, beyond).starts_with(&format!("plans: {name} must be 1 to ")), "{name} {beyond}");
        }
    }
    assert_eq!(problems(json!({ "plans": { "max_seconds": 604_800, "default_seconds": 604_800 } })), "");
    for beyond in [0, 604_801] {
        let found = problems(json!({ "plans": { "max_seconds": beyond, "default_seconds": 1 } }));
        assert!(found.contains("plans: max_seconds must be 1 to 604800"), "{found}");
    }
}
