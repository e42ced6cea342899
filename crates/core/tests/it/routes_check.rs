//! Validation of a route table: each problem is named with its correction.

use crate::held::{document, route};
use countersign_core::{held::must_be_confirmed, project::check};
use countersign_protocol::project::ProjectDocument;
use serde_json::{Value, json};

fn problems(document: &ProjectDocument) -> String {
    check(document).iter().map(|problem| format!("{problem}\n")).collect()
}

/// The problems of the default document with some route members overwritten.
fn with_route(with: Value) -> String {
    problems(&document(json!({ "routes": [route(with)] })))
}

fn refused(with: Value, why: &str) {
    let found = with_route(with.clone());
    assert!(found.starts_with("routes[0]: ") && found.contains(why), "{with}: {found:?}");
}

#[test]
fn the_usual_route_has_no_problem() {
    assert_eq!(with_route(json!({})), "");
    assert_eq!(
        with_route(json!({
            "scope": "transfers.write", "intent_types": ["PAY"], "minimum_tier": 3, "approvers": ["role:approver", "user:a"],
            "assurance": "fresh", "timeout_seconds": 60, "allowance_seconds": 60, "lease_seconds": 60, "risk": "high",
            "values": [{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }],
            "resource": "account:{path.account}", "effect": "transfer:{path.account}:{body.id}", "upstream": "core",
            "max_body_bytes": 1, "upstream_timeout_seconds": 600, "headers": ["if-match", "accept-language"],
            "describe": { "action": "{{x}} {header.if-match}", "consequence": "{query.a}", "detailed": "{body.a.b}" },
        })),
        ""
    );
}

/// AAP-14.1-01, C-04, R-20
#[test]
fn a_dry_run_is_for_requests_that_end_and_is_no_part_of_them() {
    for good in [json!(true), json!(false), json!({ "upstream": "query" }), json!({ "upstream": "header" })] {
        assert_eq!(with_route(json!({ "dry_run": good })), "");
    }
    for stream in ["events", "websocket"] {
        let streaming = |dry_run: Value| {
            problems(&document(json!({ "routes": [{
                "id": "a", "method": "POST", "path": "/a", "action": "transfers.create", "stream": stream, "dry_run": dry_run,
            }] })))
        };
        assert!(streaming(json!(true)).contains("dry_run is for requests that end"), "{}", streaming(json!(true)));
        assert!(streaming(json!({ "upstream": "header" })).contains("dry_run is for requests that end"));
        assert!(!streaming(json!(false)).contains("dry_run"));
    }
    let taken_out = "which the gateway takes out of every request";
    refused(json!({ "describe": { "action": "Pay {query.dry_run}" } }), taken_out);
    refused(json!({ "effect": "pay:{query.dry_run}" }), taken_out);
    for bad in
        [json!("true"), json!({}), json!({ "upstream": "body" }), json!({ "upstream": "query", "x": 1 }), json!(1)]
    {
        let mut whole = json!({ "id": "shop" });
        whole["routes"] = json!([{ "id": "a", "method": "POST", "path": "/a", "action": "a", "dry_run": bad }]);
        let why = serde_json::from_value::<ProjectDocument>(whole).unwrap_err().to_string();
        assert!(why.contains("dry_run must be true, false"), "{bad}: {why}");
    }
}

///
#[test]
fn templates_must_parse_and_name_members_of_the_routes_requests() {
    for member in ["action", "consequence", "terse", "normal", "detailed"] {
        let describe = |text: &str| {
            let mut described = json!({ "action": "x" });
            described[member] = json!(text);
            json!({ "describe": described })
        };
        refused(describe("{body.a"), &format!("describe.{member}: a {{ has no }} after it"));
        refused(describe("{amount}"), &format!("describe.{member}: {{amount}} names nothing"));
        refused(describe("{path.nobody}"), "{path.nobody} is not part of the route's path");
        refused(describe("{header.etag}"), "{header.etag} is not among the route's headers");
        refused(describe(" "), &format!("describe.{member} "));
    }
    refused(json!({ "resource": "inbox:{path.inbox}" }), "resource: {path.inbox} is not part");
    refused(json!({ "resource": "inbox" }), "resource: it may contain only visible ASCII");
    refused(json!({ "effect": "{body.a}{body.b}" }), "effect: two names must be separated");
    let values = |value: Value| json!({ "values": [value] });
    refused(values(json!({ "name": "a", "from": "amount", "unit": "USD" })), "values.from: {amount} names nothing");
    refused(values(json!({ "name": "a", "from": "path.x", "unit": "USD" })), "values.from: {path.x} is not part");
    refused(values(json!({ "name": "a", "from": "body.a", "unit": "{c}" })), "values.unit: {c} names nothing");
    refused(values(json!({ "name": "a", "from": "body.a", "unit": "" })), "values.unit must be a word");
    refused(values(json!({ "name": "", "from": "body.a", "unit": "USD" })), "values must have names");
}

///
#[test]
fn a_lease_must_be_longer_than_connecting_may_take() {
    refused(json!({ "lease_seconds": 6 }), "lease_seconds is 6, which connecting to core (5 s) may use up: raise it");
    assert_eq!(with_route(json!({ "lease_seconds": 7 })), "");
    let upstreams = json!([{ "id": "core", "url": "http://a", "connect_timeout_seconds": 60 }]);
    let found = problems(&document(json!({ "upstreams": upstreams, "routes": [route(json!({}))] })));
    assert!(found.contains("lower connect_timeout_seconds of the upstream"), "{found}");
    let unheld = json!({ "lease_seconds": 1, "irreversible": false, "risk": "low" });
    assert_eq!(with_route(unheld), "", "nothing is claimed for a call that nobody approves");
}

///
#[test]
fn a_route_is_held_to_the_terms_of_actions() {
    refused(json!({ "approvers": ["alice"] }), "approvers are role:approver");
    refused(json!({ "assurance": "passkey" }), "assurance must be token, session or fresh");
    refused(json!({ "timeout_seconds": 0 }), "times must be 1 to 86400");
    refused(json!({ "allowance_seconds": 86_401 }), "times must be 1 to 86400");
    refused(json!({ "lease_seconds": -1 }), "times must be 1 to 86400");
    let defaulting =
        json!([{ "name": "transfers.send", "irreversible": false, "risk": "low", "default_decision": "accept" }]);
    let found = problems(&document(json!({ "actions": defaulting })));
    assert!(found.contains("routes[0]: default_decision accept is only for"), "{found}");
}

/// The problems of the default route under a scope that accepts the agent's own confirmation.
fn own_word(route_with: Value, scope_with: Value, actions: Value, other_scope: Option<Value>) -> String {
    let mut scope = json!({ "id": "transfers.write", "description": "x", "allows": ["transfers.send"],
        "intent_types": ["PAY"], "requires_confirmation": true, "confirmation": "self_asserted" });
    scope.as_object_mut().unwrap().extend(scope_with.as_object().unwrap().clone());
    let mut silent = json!({ "irreversible": null, "risk": null });
    silent.as_object_mut().unwrap().extend(route_with.as_object().unwrap().clone());
    let scopes: Vec<Value> = [scope].into_iter().chain(other_scope).collect();
    problems(&document(json!({ "scopes": scopes, "routes": [route(silent)], "actions": actions })))
}

///
#[test]
fn a_document_that_takes_the_agents_word_where_it_demands_a_person_is_refused_naming_both_places() {
    assert_eq!(own_word(json!({}), json!({}), json!([]), None), "");
    let mild = json!([{ "name": "transfers.send", "irreversible": false, "risk": "low" }]);
    assert_eq!(own_word(json!({}), json!({}), mild, None), "");
    let refused = |found: String, place: &str| {
        let own = "scopes[0].confirmation = \"self_asserted\"";
        assert!(found.contains(&format!("{place} demands a person")) && found.contains(own), "{place}: {found:?}");
    };
    for (member, value) in [
        ("irreversible", json!(true)),
        ("reversibility", json!("irreversible")),
        ("requires_confirmation", json!(true)),
        ("approvers", json!(["role:approver"])),
        ("assurance", json!("fresh")),
    ] {
        refused(own_word(json!({ member: value }), json!({}), json!([]), None), &format!("routes[0].{member}"));
    }
    for (member, value) in [
        ("irreversible", json!(true)),
        ("reversibility", json!("irreversible")),
        ("approvers", json!(["user:alice"])),
        ("assurance", json!("session")),
    ] {
        let mut entry = json!({ "name": "transfers.send", "irreversible": false, "risk": "low" });
        entry[member] = value;
        refused(own_word(json!({}), json!({}), json!([entry]), None), &format!("actions[0].{member}"));
    }
    refused(own_word(json!({}), json!({ "irreversible": true }), json!([]), None), "scopes[0].irreversible");
    let other = json!({ "id": "transfers.all", "description": "x", "allows": ["transfers.send"],
        "intent_types": ["PAY"], "requires_confirmation": true });
    refused(own_word(json!({}), json!({}), json!([]), Some(other)), "scopes[1].requires_confirmation");
}

/// AAEP-6.4.1-07, R-1
#[test]
fn accepting_by_default_is_applied_only_to_reversible_actions_below_high_risk() {
    let with = |entry: Value| {
        let mut policy =
            json!({ "name": "lamp.dim", "irreversible": false, "risk": "low", "default_decision": "accept" });
        policy.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        problems(&document(json!({ "actions": [policy] })))
    };
    for entry in [
        json!({ "irreversible": true }),
        json!({ "reversibility": "irreversible" }),
        json!({ "risk": "high" }),
        json!({ "irreversible": true, "risk": "high" }),
    ] {
        let found = with(entry.clone());
        assert!(
            found.contains("actions[0]: default_decision accept is only for actions that are reversible"),
            "{entry} {found}"
        );
    }
    assert_eq!(with(json!({ "risk": "medium" })), "");
}

///
#[test]
fn accepting_by_default_is_applied_only_with_thirty_seconds_to_answer() {
    let with = |entry: Value, most: i64| {
        let mut policy =
            json!({ "name": "lamp.dim", "irreversible": false, "risk": "low", "default_decision": "accept" });
        policy.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        problems(&document(json!({ "actions": [policy], "decisions": { "max_timeout_seconds": most } })))
    };
    for (entry, most) in [
        (json!({ "timeout_seconds": 3 }), 3600),
        (json!({ "timeout_seconds": 29 }), 3600),
        (json!({ "max_timeout_seconds": 20 }), 3600),
        (json!({}), 29),
    ] {
        let found = with(entry.clone(), most);
        assert!(
            found.contains("actions[0]: default_decision accept gives people at least 30 seconds"),
            "{entry} {found:?}"
        );
    }
    for entry in
        [json!({}), json!({ "timeout_seconds": 30 }), json!({ "timeout_seconds": 3, "default_decision": "reject" })]
    {
        assert_eq!(with(entry.clone(), 3600), "", "{entry}");
    }
}

///
#[test]
fn headers_that_carry_identity_or_change_the_request_are_never_passed_on() {
    for header in [
        "authorization",
        "dpop",
        "cookie",
        "host",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authorization",
        "proxy-connection",
        "content-length",
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-agent-confirm",
        "x-agent-delegation-id",
        "x-forwarded-for",
        "x-forwarded-host",
        "forwarded",
        "countersign-assertion",
        "If-Match",
        "a b",
        "",
        "ä",
        "x:y",
    ] {
        refused(json!({ "headers": [header], "describe": null }), "headers has ");
    }
    refused(json!({ "headers": ["if-match", "if-match"] }), "headers has \"if-match\" twice");
}

///
#[test]
fn a_stream_is_never_held_and_a_websocket_is_a_get() {
    let free = |with: Value| {
        let mut free = json!({ "method": "GET", "irreversible": null, "action": "accounts.read" });
        free.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        free
    };
    refused(json!({ "stream": "events" }), "stream cannot be combined with a confirmation");
    refused(free(json!({ "stream": "websocket", "irreversible": true })), "stream cannot be combined");
    refused(free(json!({ "stream": "websocket", "method": "POST" })), "stream = \"websocket\" is for GET only");
    assert_eq!(with_route(free(json!({ "stream": "websocket" }))), "");
    assert_eq!(with_route(free(json!({ "stream": "events" }))), "");
}

#[test]
fn bounds_and_names_are_looked_at() {
    for (with, why) in [
        (json!({ "max_body_bytes": 0 }), "max_body_bytes must be 1 to 16777216"),
        (json!({ "max_body_bytes": 16_777_217 }), "max_body_bytes must be 1 to 16777216"),
        (json!({ "upstream_timeout_seconds": 601 }), "upstream_timeout_seconds must be 1 to 600"),
        (json!({ "upstream": "elsewhere" }), "upstream names none"),
        (json!({ "scope": "nothing.here" }), "scope must be the id of a scope whose allows"),
        (json!({ "scope": "accounts.read" }), "scope must be the id of a scope whose allows"),
        (json!({ "intent_types": ["LOOK"] }), "intent_types must be among those of the scopes"),
        (json!({ "minimum_tier": 5 }), "minimum_tier must be 1 to 4"),
        (json!({ "minimum_tier": 4 }), "minimum_tier 4 needs trusted_providers"),
        (json!({ "path": "/.countersign/x", "describe": null }), "path must not lie under /.countersign/"),
        (json!({ "path": "/a//b", "describe": null }), "path must begin with /"),
        (json!({ "path": "/a/../b", "describe": null }), "path must begin with /"),
        (json!({ "path": "/{a}/{a}", "describe": null }), "path names two segments alike"),
        (json!({ "effect": "e:{body.a}", "irreversible": null }), "effect is for calls that a person confirms"),
    ] {
        refused(with, why);
    }
    let whole = |with: Value| problems(&document(with));
    assert_eq!(whole(json!({ "minimum_tier": 3 })), "");
    assert!(whole(json!({ "minimum_tier": 4 })).contains("4 needs trusted_providers"));
    assert_eq!(whole(json!({ "confirmation_status": 428 })), "");
    assert!(whole(json!({ "confirmation_status": 401 })).contains("confirmation_status: must be 403 or 428"));
}

#[test]
fn an_upstream_is_an_origin_with_a_name_of_its_own() {
    let of = |upstreams: Value| problems(&document(json!({ "upstreams": upstreams })));
    for url in [
        "",
        "127.0.0.1:9000",
        "ftp://a",
        "http://",
        "http://a/",
        "http://a/b",
        "http://a?b",
        "http://a#b",
        "http://u@a",
        "http://u:p@a",
        "http://a:0",
        "http://a:99999",
        "http://a:+80",
        "http://a b",
        "http://[::g]",
        "http://a..b",
    ] {
        assert!(of(json!([{ "id": "core", "url": url }])).contains("upstreams[0]: url must be http://"), "{url}");
    }
    for url in ["http://127.0.0.1:9000", "https://api.internal", "http://[::1]:80", "http://service_name"] {
        assert_eq!(of(json!([{ "id": "core", "url": url }])), "", "{url}");
    }
    let upstream = |with: Value| {
        let mut upstream = json!({ "id": "core", "url": "http://a" });
        upstream.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        upstream
    };
    let twice = of(json!([upstream(json!({})), upstream(json!({}))]));
    assert!(twice.contains("upstreams[1]: upstream ids must be given and differ"), "{twice}");
    for (with, why) in [
        (json!({ "id": "" }), "upstream ids must be given and differ"),
        (json!({ "timeout_seconds": 0 }), "timeouts must be 1 to 600"),
        (json!({ "connect_timeout_seconds": 601 }), "timeouts must be 1 to 600"),
        (json!({ "credential": "" }), "credential must name one"),
        (json!({ "idempotency_header": "Authorization" }), "idempotency_header must be"),
        (json!({ "idempotency_header": "authorization" }), "idempotency_header must be"),
    ] {
        let found = of(json!([upstream(with)]));
        assert!(found.contains(why), "{found}");
    }
}

#[test]
fn the_effect_key_is_ours_to_send() {
    let upstreams = json!([{ "id": "core", "url": "http://a", "idempotency_header": "idempotency-key" }]);
    let of = |with: Value| problems(&document(json!({ "upstreams": upstreams, "routes": [route(with)] })));
    let listed = json!({ "headers": ["idempotency-key"], "effect": "e:{body.a}" });
    assert!(of(listed).contains("headers has its upstream's idempotency_header"));
    assert_eq!(of(json!({ "headers": ["idempotency-key"] })), "");
}

///
#[test]
fn a_call_is_held_where_its_route_its_action_or_a_scope_says_so() {
    let held = |whole: Value, with: Value| {
        let document = document(whole);
        must_be_confirmed(&document, &route(with))
    };
    let silent = |with: Value| {
        let mut route = json!({ "irreversible": null });
        route.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        route
    };
    let scope = |member: &str| {
        json!({ "scopes": [{ "id": "transfers.write", "description": "x", "allows": ["transfers.send"], "intent_types": ["PAY"],
            member: true }] })
    };
    let action =
        |irreversible: bool| json!({ "actions": [{ "name": "transfers.send", "irreversible": irreversible }] });
    assert!(!held(json!({}), silent(json!({}))));
    for with in [
        json!({ "irreversible": true }),
        json!({ "requires_confirmation": true }),
        json!({ "reversibility": "irreversible" }),
    ] {
        assert!(held(json!({}), silent(with.clone())), "{with}");
    }
    assert!(held(action(true), silent(json!({}))));
    assert!(!held(action(false), silent(json!({}))));
    assert!(!held(action(true), silent(json!({ "irreversible": false }))));
    for member in ["irreversible", "requires_confirmation"] {
        assert!(held(scope(member), silent(json!({}))), "{member}");
        assert!(held(scope(member), silent(json!({ "irreversible": false }))), "{member}");
        assert!(!held(scope(member), silent(json!({ "method": "GET" }))), "{member}");
        assert!(held(scope(member), silent(json!({ "method": "GET", "writes": true }))), "{member}");
        assert!(!held(scope(member), silent(json!({ "action": "accounts.read" }))), "{member}");
    }
}
