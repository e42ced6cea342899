use super::*;
use crate::bounded::{ActionTarget, Arguments, Units};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PAYEE: &str = "payee:{path.payee}";
const PAYEE_AT: &str = "payee:{query.bank}:{path.payee}";

fn boundary(resource: &str, granted: &[&str]) -> CallBoundary {
    let route = json!({
        "id": "payees", "method": "DELETE", "path": "/payees/{payee}", "action": "payees.remove", "upstream": "bank",
        "resource": resource, "irreversible": true,
    });
    let account = ServiceAccount {
        account_id: "svc_acme".into(),
        org_id: "org".into(),
        authorized_by: "ada@bank.test".into(),
        admin: 1,
        service: "https://bank.test".into(),
        granted_scope: serde_json::from_value(json!({
            "description": "Payees", "scopes": ["bank.payees"], "resources": granted, "crosses_users": false,
        }))
        .unwrap(),
        actions: BTreeSet::new(),
        usage_limits: Default::default(),
    };
    CallBoundary { account: Box::new(account), route: serde_json::from_value(route).unwrap() }
}

fn pattern(released: Value) -> Pattern {
    let arguments = json!({ "path": { "payee": "p1" }, "query": { "bank": "b1" }, "headers": {} });
    let arguments = Arguments::read(&arguments.to_string()).unwrap();
    let target = ActionTarget::Route { id: "payees".into() };
    Pattern::new(target, arguments, serde_json::from_value(released).unwrap(), &Units::of_tool()).unwrap()
}

fn outside(resource: &str, granted: &[&str], released: Value) -> Option<String> {
    match boundary(resource, granted).check(&pattern(released)) {
        Ok(()) => None,
        Err(Refusal::BoundaryViolation(beyond)) => Some(beyond),
        Err(other) => panic!("{other:?}"),
    }
}

/// AAP-11.3-06
#[test]
fn every_resource_that_an_approval_allows_must_be_granted() {
    let one_of = |values: &[&str]| json!({ "path.payee": { "one_of": values } });
    assert_eq!(outside(PAYEE, &["payee:p1"], json!({})), None);
    assert_eq!(outside(PAYEE, &["payee:p2"], json!({})), Some("payee:p1".into()));
    assert_eq!(outside(PAYEE, &[], json!({})), Some("payee:p1".into()));
    assert_eq!(outside(PAYEE, &["payee:p1"], one_of(&["p1", "p2"])), Some("payee:p2".into()));
    assert_eq!(outside(PAYEE, &["payee:p1", "payee:p2"], one_of(&["p1", "p2"])), None);
    assert_eq!(outside(PAYEE, &["payee:p1"], one_of(&["p1", "p1:x"])), Some("payee:p1%3Ax".into()));
    assert_eq!(outside(PAYEE, &["payee:p1"], json!({ "query.bank": { "text": 9 } })), None, "no part of the resource");
}

/// AAP-11.3-06
#[test]
fn a_released_text_of_the_resource_needs_a_granted_prefix() {
    let any_payee = || json!({ "path.payee": { "text": 20 } });
    let any_path = || json!({ "path": { "one_of": [{ "payee": "p1" }] } });
    for released in [any_payee(), any_path()] {
        assert_eq!(outside(PAYEE, &["payee:p1"], released.clone()), Some("payee:*".into()));
        assert_eq!(outside(PAYEE, &["payee:*"], released.clone()), None);
        assert_eq!(outside(PAYEE, &["account:*"], released), Some("payee:*".into()));
    }
    assert_eq!(outside(PAYEE_AT, &["payee:b1:*"], any_payee()), None);
    assert_eq!(outside(PAYEE_AT, &["payee:b2:*", "payee:b1:p1"], any_payee()), Some("payee:b1:*".into()));
    let both = json!({ "query.bank": { "one_of": ["b1", "b2"] }, "path.payee": { "text": 20 } });
    assert_eq!(outside(PAYEE_AT, &["payee:b1:*"], both.clone()), Some("payee:b2:*".into()));
    assert_eq!(outside(PAYEE_AT, &["payee:*"], both), None);
}

/// AAP-11.3-01
#[test]
fn a_route_without_a_known_resource_is_closed_and_one_without_resources_is_open() {
    let mut unknown = boundary(PAYEE, &["payee:*"]);
    unknown.route.resource = None;
    assert_eq!(unknown.check(&pattern(json!({}))), Err(Refusal::NoBoundary("payees".into())));
    assert_eq!(boundary("none", &[]).check(&pattern(json!({}))), Ok(()));
}
