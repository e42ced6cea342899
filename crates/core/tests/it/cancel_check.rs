//! Validation of a route's cancel endpoint, and its path for a call (AAP 17.7).

use crate::held::{document, route};
use countersign_core::{
    held::{CancelPath, HttpRequest},
    project::check,
};
use countersign_protocol::project::Route;
use serde_json::{Value, json};

fn problems(cancel: Value, more: Value) -> String {
    let mut with = json!({ "cancel": cancel, "irreversible": false, "requires_confirmation": true });
    with.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    check(&document(json!({ "routes": [route(with)] }))).iter().map(|problem| format!("{problem}\n")).collect()
}

/// Of a route that says nothing about it, under a scope and an entry of its action.
fn problems_under(irreversible_scope: bool, mut action: Value) -> String {
    action["name"] = "transfers.send".into();
    let cancel = json!({ "path": "/transfers/{response.id}/cancel" });
    let silent = route(json!({ "cancel": cancel, "irreversible": null, "requires_confirmation": true }));
    let mut document = document(json!({ "routes": [silent], "actions": [action] }));
    document.scopes[0].irreversible = irreversible_scope;
    check(&document).iter().map(|problem| format!("{problem}\n")).collect()
}

fn refused(cancel: Value, more: Value, why: &str) {
    let found = problems(cancel.clone(), more);
    assert!(found.contains("routes[0]: ") && found.contains(why), "{cancel}: {found:?}");
}

#[test]
fn a_malformed_or_contradictory_cancel_endpoint_is_refused_with_its_member_named() {
    let sound = || json!({ "path": "/transfers/{response.id}/cancel" });
    assert_eq!(problems(sound(), json!({})), "");
    assert_eq!(problems(json!({ "method": "DELETE", "path": "/transfers/{body.reference}" }), json!({})), "");
    for path in ["", "transfers", "https://other.test/x", "//other.test/x", "/a/../b", "/a b", "/{{a}}", "/a#b"] {
        refused(json!({ "path": path }), json!({}), "cancel.path: ");
    }
    refused(json!({ "path": "/a-{response.id}" }), json!({}), "cancel.path: a name in braces must be a whole segment");
    refused(json!({ "path": "/{path.nobody}" }), json!({}), "cancel.path: {path.nobody} is not part");
    refused(json!({ "method": "GET", "path": "/a" }), json!({}), "cancel.method must be");
    refused(json!({ "path": "/a", "undone": { "statuses": [] } }), json!({}), "cancel.undone.statuses");
    refused(json!({ "path": "/a", "undone": { "statuses": [500] } }), json!({}), "cancel.undone.statuses must be");
    let irreversible = |place: &str| format!("cancel undoes a call that {place} calls irreversible");
    refused(sound(), json!({ "irreversible": true }), &irreversible("routes[0].irreversible"));
    refused(sound(), json!({ "reversibility": "irreversible" }), &irreversible("routes[0].reversibility"));
    refused(sound(), json!({ "writes": false }), "cancel undoes writes");
    for (by_scope, action, place) in [
        (true, json!({ "irreversible": false }), "scopes[0].irreversible"),
        (false, json!({ "irreversible": true }), "actions[0].irreversible"),
        (false, json!({ "irreversible": false, "reversibility": "irreversible" }), "actions[0].reversibility"),
    ] {
        let found = problems_under(by_scope, action);
        assert!(found.contains(&format!("routes[0]: {}", irreversible(place))), "{place}: {found:?}");
    }
    assert_eq!(problems_under(false, json!({ "irreversible": false })), "");
    let found = problems(sound(), json!({ "effect": "x:{response.id}" }));
    assert!(found.contains("{response.id} is not known before the call"), "{found}");
    let mut nowhere = document(json!({ "routes": [route(json!({ "cancel": sound(), "irreversible": false }))] }));
    nowhere.upstreams.clear();
    let found: String = check(&nowhere).iter().map(|problem| format!("{problem}\n")).collect();
    assert!(found.contains("cancel asks the route's upstream"), "{found}");
}

fn path_for(template: &str, reference: &Value, response: Option<&Value>) -> Option<String> {
    let route: Route = serde_json::from_value(json!({
        "id": "orders", "method": "POST", "path": "/orders/{shop}", "action": "orders.place", "cancel": { "path": template },
    }))
    .unwrap();
    let request = HttpRequest {
        method: "POST".into(),
        origin: "https://gateway.test".into(),
        target: "/orders/main".into(),
        content_type: "application/json".into(),
        content_encoding: String::new(),
        headers: Default::default(),
        body: json!({ "reference": reference }).to_string().into_bytes(),
    };
    let whole = CancelPath::needs_whole_request(route.cancel.as_ref().unwrap()).then_some(&request);
    let path = CancelPath::of_call(&route, ("/orders/main", None), whole)?;
    let body = response.map(|body| body.to_string().into_bytes());
    path.complete(body.as_deref())
}

///
#[test]
fn no_value_of_a_call_or_its_response_adds_a_segment_to_the_path_that_undoes_it() {
    let by_body = |value: Value| path_for("/orders/{path.shop}/{body.reference}?by=us", &value, None);
    assert_eq!(by_body(json!("o-1")).unwrap(), "/orders/main/o-1?by=us");
    assert_eq!(by_body(json!("a?b&c{response.id}")).unwrap(), "/orders/main/a%3Fb%26c%7Bresponse.id%7D?by=us");
    for value in ["..", ".", "a/b", "", " a"] {
        assert_eq!(by_body(json!(value)), None, "{value:?}");
    }
    let by_response = |id: Value| {
        path_for("/orders/{response.order.id}/cancel", &Value::Null, Some(&json!({ "order": { "id": id } })))
    };
    assert_eq!(by_response(json!(17)).unwrap(), "/orders/17/cancel");
    assert_eq!(by_response(json!("a b")).unwrap(), "/orders/a%20b/cancel");
    for value in [json!(".."), json!("a/b"), json!(""), json!(null), json!(1.5), json!({ "a": 1 })] {
        assert_eq!(by_response(value.clone()), None, "{value}");
    }
    assert_eq!(path_for("/orders/{response.id}", &Value::Null, None), None);
    assert_eq!(path_for("/orders/{response.id}", &Value::Null, Some(&json!({}))), None);
}
