//! The preview of a request for project owners, before any agent sends it.

use crate::held::{BODY, document, route};
use countersign_core::held::explain;
use countersign_protocol::aaep::event::Risk;
use serde_json::json;

const URL: &str = "https://api.bank.example/v1/accounts/main/transfers?notify=true";

fn json_type() -> Vec<(String, String)> {
    vec![("Content-Type".into(), "application/json".into())]
}

#[test]
fn a_request_without_a_route_is_reported_with_the_nearest() {
    let document = document(json!({}));
    let why = explain(&document, "GET", URL, &[], b"").unwrap_err();
    assert_eq!(why.to_string(), "no route matches GET /v1/accounts/main/transfers");
    assert_eq!(why.nearest.as_deref(), Some("POST /v1/accounts/{account}/transfers"));
    let why = explain(&document, "POST", "/v1/accounts/../transfers", &[], b"").unwrap_err();
    assert!(why.to_string().ends_with("the path could be read in more than one way"));
    assert_eq!(explain(&document, "GET", "https://api.bank.example", &[], b"").unwrap_err().path, "/");
    assert_eq!(explain(&document, "GET", "/elsewhere", &[], b"").unwrap_err().nearest, None);
}

#[test]
fn a_refusal_is_shown_beside_the_terms() {
    let explained = explain(&document(json!({})), "POST", URL, &json_type(), b"{\"to\":1,\"to\":2}").unwrap();
    let problem = explained.problem.unwrap();
    assert!(problem.ends_with("the member \"to\" occurs twice"), "{problem}");
    assert!(explained.held.unwrap().question.is_none());
    let twice = [("If-Match".to_owned(), "1".to_owned()), ("if-match".to_owned(), "2".to_owned())];
    let explained = explain(&document(json!({})), "POST", URL, &twice, b"").unwrap();
    assert_eq!(explained.problem.unwrap(), "the header if-match occurs twice");
}

#[test]
fn a_held_request_is_reported_with_approvers_terms_and_text() {
    let route = route(json!({
        "approvers": ["user:alice"], "assurance": "fresh", "timeout_seconds": 90, "minimum_tier": 3,
        "effect": "transfer:{body.to}", "resource": "account:{path.account}",
    }));
    let explained =
        explain(&document(json!({ "routes": [route] })), "POST", URL, &json_type(), BODY.as_bytes()).unwrap();
    assert_eq!((explained.route.as_str(), explained.action.as_str()), ("transfers.create", "transfers.send"));
    assert_eq!((explained.scopes, explained.intent_types), (vec!["transfers.write".into()], vec!["PAY".into()]));
    assert_eq!((explained.tier, explained.writes, explained.proof), (3, true, true));
    assert_eq!(explained.resource.as_deref(), Some("account:main"));
    assert_eq!(explained.upstream.as_deref(), Some("core at http://127.0.0.1:9000"));
    assert_eq!((explained.headers, explained.problem), (vec!["if-match".into()], None));
    let held = explained.held.unwrap();
    assert_eq!(held.why, ["the route transfers.create requires it"]);
    assert_eq!((held.risk, held.irreversible, held.asked), (Risk::High, true, vec!["user:alice".into()]));
    assert_eq!((held.assurance.as_str(), held.timeout_s, held.allowance_s), ("fresh", 90, 300));
    assert_eq!(held.effect.as_deref(), Some("transfer:acct-3344"));
    let question = held.question.unwrap();
    assert_eq!(question.action, "Send 82000.10 “USD” from “main” to “acct-3344”. Also sent: query notify: “true”");
    assert!(question.detailed.contains("\nquery notify: “true”\n"));
}

#[test]
fn every_reason_to_hold_is_named() {
    let whole = json!({
        "scopes": [{ "id": "transfers.write", "description": "x", "allows": ["transfers.send"], "intent_types": ["PAY"],
            "requires_confirmation": true, "confirmation": "self_asserted" }],
        "actions": [{ "name": "transfers.send" }],
    });
    let held = explain(&document(whole), "POST", URL, &json_type(), BODY.as_bytes()).unwrap().held.unwrap();
    let why = [
        "the route transfers.create requires it",
        "the action transfers.send is irreversible",
        "the scope transfers.write requires confirmation",
    ];
    assert_eq!(held.why, why);
    assert_eq!(
        (held.asked, held.self_asserted),
        (vec!["the person for whom the agent acts".to_owned()], Vec::<String>::new()),
        "where the route demands a person, the agent's word is not enough (R-31)"
    );
}

#[test]
fn a_request_that_needs_no_approval_is_not_read() {
    let reading = route(json!({ "method": "GET", "action": "accounts.read", "irreversible": null, "describe": null }));
    let explained = explain(&document(json!({ "routes": [reading] })), "GET", URL, &[], b"not even read").unwrap();
    assert_eq!((explained.held, explained.problem, explained.writes), (None, None, false));
}

///
#[test]
fn terms_that_cannot_be_set_are_a_problem_and_not_a_free_pass() {
    let whole = json!({
        "routes": [route(json!({ "irreversible": false, "requires_confirmation": true, "timeout_seconds": 5 }))],
        "actions": [{ "name": "transfers.send", "irreversible": false, "risk": "low", "default_decision": "accept" }],
    });
    let explained = explain(&document(whole), "POST", URL, &json_type(), BODY.as_bytes()).unwrap();
    assert!(explained.problem.unwrap().contains("at least 30 seconds"));
}

/// AAP-2-04, C-25
#[test]
fn the_tier_is_the_highest_that_anything_asks_for() {
    let reading = |with: serde_json::Value| {
        let mut usual = json!({ "method": "GET", "action": "accounts.read", "irreversible": null, "describe": null });
        usual.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        route(usual)
    };
    let low = json!([{ "id": "accounts.read", "description": "x", "allows": ["accounts.read"], "intent_types": ["LOOK"],
        "low_stakes": true }]);
    let tier = |whole: serde_json::Value| explain(&document(whole), "GET", URL, &[], b"").unwrap().tier;
    assert_eq!(tier(json!({ "minimum_tier": 1, "routes": [reading(json!({}))] })), 2);
    assert_eq!(tier(json!({ "minimum_tier": 1, "routes": [reading(json!({}))], "scopes": low })), 1);
    assert_eq!(tier(json!({ "minimum_tier": 1, "routes": [reading(json!({ "writes": true }))], "scopes": low })), 2);
    assert_eq!(tier(json!({ "minimum_tier": 1, "routes": [reading(json!({ "minimum_tier": 3 }))], "scopes": low })), 3);
    assert_eq!(tier(json!({ "minimum_tier": 3, "routes": [reading(json!({}))], "scopes": low })), 3);
    let claims = |claim: &str, of_route: serde_json::Value| {
        tier(json!({ "conformance": { "tier": claim }, "routes": [reading(of_route)] }))
    };
    for claim in ["extended", "full"] {
        assert_eq!(claims(claim, json!({})), 2, "{claim}: a read");
        assert_eq!(claims(claim, json!({ "writes": true })), 3, "{claim}");
        assert_eq!(claims(claim, json!({ "writes": true, "minimum_tier": 2 })), 2, "{claim}");
        assert_eq!(claims(claim, json!({ "writes": true, "minimum_tier": 1 })), 2, "{claim}");
    }
    assert_eq!(claims("core", json!({ "writes": true })), 2);
}
