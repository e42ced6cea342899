//! Validation of a route's probe, and its path for a request.

use crate::held::{document, route};
use countersign_core::{
    held::{Fields, HttpRequest, probe_path},
    project::check,
};
use countersign_protocol::project::Route;
use serde_json::{Value, json};

fn sound() -> Value {
    json!({
        "path": "/transfers?reference={body.reference}",
        "done": { "statuses": [200], "member": "/items", "items": "some" },
        "not_done": { "statuses": [200], "member": "/items", "items": "none" },
        "settling_seconds": 30,
    })
}

fn changed(change: Value) -> Value {
    let mut probe = sound();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => drop(probe.as_object_mut().unwrap().remove(name)),
            value => probe[name] = value.clone(),
        }
    }
    probe
}

fn problems(probe: &Value, more: Value) -> String {
    let mut with = json!({ "probe": probe });
    with.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    check(&document(json!({ "routes": [route(with)] }))).iter().map(|problem| format!("{problem}\n")).collect()
}

fn refused(change: Value, why: &str) {
    let found = problems(&changed(change.clone()), json!({}));
    assert!(found.starts_with("routes[0]: ") && found.contains(why), "{change}: {found:?}");
}

///
#[test]
fn a_malformed_probe_is_refused_with_its_member_named() {
    assert_eq!(problems(&sound(), json!({})), "");
    for path in [
        "",
        "transfers",
        "https://other.test/transfers",
        "//other.test/x",
        "/a/../b",
        "/a//b",
        "/a;b",
        "/a#b",
        "/a\\b",
        "/a%2fb",
        "/{{a}}",
        "/a b",
    ] {
        refused(json!({ "path": path }), "probe.path: ");
    }
    refused(json!({ "path": "/{reference}" }), "probe.path: {reference} names nothing");
    refused(json!({ "path": "/{cookie.a}" }), "probe.path: {cookie.a} names nothing");
    refused(json!({ "path": "/{path.nobody}" }), "probe.path: {path.nobody} is not part");
    refused(json!({ "path": "/a-{body.a}" }), "probe.path: a name in braces must be a whole segment");
    for query in ["{body.a}=1", "a=x{body.a}", "{body.a}", "a={body.a}&", "a=<", "=x"] {
        refused(json!({ "path": format!("/a?{query}") }), "probe.path: after ?");
    }
    refused(json!({ "settling_seconds": null }), "probe.settling_seconds must be 1 to 3600");
    refused(json!({ "settling_seconds": 0 }), "probe.settling_seconds must be 1 to 3600");
    refused(json!({ "settling_seconds": 3601 }), "probe.settling_seconds must be 1 to 3600");
    refused(json!({ "not_done": null }), "probe.settling_seconds sets when not_done begins to count");
    refused(json!({ "done": { "statuses": [] } }), "probe.done.statuses must name at least one");
    refused(json!({ "done": { "statuses": [302] } }), "probe.done.statuses must be 200 to 299");
    for status in [100, 301, 401, 403, 407, 408, 425, 429, 500, 503] {
        refused(json!({ "not_done": { "statuses": [status] } }), "probe.not_done.statuses must be");
    }
    refused(json!({ "done": { "statuses": [200], "member": "items" } }), "probe.done.member must be a JSON pointer");
    refused(json!({ "done": { "statuses": [200], "member": "/a~2" } }), "probe.done.member must be a JSON pointer");
    refused(json!({ "done": { "statuses": [200], "items": "some" } }), "probe.done.member is missing");
    let both = json!({ "statuses": [201], "member": "/a", "items": "some", "equals": "x" });
    refused(json!({ "done": both }), "probe.done has equals and items");
}

///
#[test]
fn answers_that_could_mean_both_are_refused() {
    let overlap = "probe.done and probe.not_done both have status 200";
    refused(json!({ "done": { "statuses": [201, 200] } }), overlap);
    refused(json!({ "not_done": { "statuses": [404, 200] } }), overlap);
    refused(json!({ "not_done": { "statuses": [200], "member": "/other", "items": "none" } }), overlap);
    refused(json!({ "not_done": { "statuses": [200], "member": "/items", "items": "some" } }), overlap);
    let state = |state: &str| json!({ "statuses": [200], "member": "/state", "equals": state });
    refused(json!({ "done": state("done"), "not_done": state("done") }), overlap);
    assert_eq!(problems(&changed(json!({ "done": state("done"), "not_done": state("failed") })), json!({})), "");
    assert_eq!(problems(&changed(json!({ "not_done": { "statuses": [404, 410] } })), json!({})), "");
}

#[test]
fn a_probe_is_for_calls_that_a_person_confirms_and_an_upstream_carries_out() {
    let unconfirmed = json!({ "irreversible": false, "requires_confirmation": false, "reversibility": null });
    let found = problems(&sound(), unconfirmed);
    assert!(found.contains("probe is for calls that a person confirms"), "{found}");
    let mut nowhere = document(json!({ "routes": [route(json!({ "probe": sound() }))] }));
    nowhere.upstreams.clear();
    let found: String = check(&nowhere).iter().map(|problem| format!("{problem}\n")).collect();
    assert!(found.contains("probe asks the route's upstream"), "{found}");
}

fn path_for(template: &str, reference: Value) -> Option<String> {
    let route: Route = serde_json::from_value(json!({
        "id": "transfers", "method": "POST", "path": "/transfers", "action": "transfers.send",
        "probe": { "path": template, "done": { "statuses": [200] } },
    }))
    .unwrap();
    let request = HttpRequest {
        method: "POST".into(),
        origin: "https://gateway.test".into(),
        target: "/transfers".into(),
        content_type: "application/json".into(),
        content_encoding: String::new(),
        headers: Default::default(),
        body: json!({ "reference": reference }).to_string().into_bytes(),
    };
    let fields = Fields::read(&route, &request).unwrap();
    probe_path(route.probe.as_ref().unwrap(), &fields)
}

///
#[test]
fn a_value_adds_no_segment_and_no_member_to_the_path_of_a_probe() {
    let query = |value: &str| path_for("/transfers?reference={body.reference}&limit=1", json!(value)).unwrap();
    assert_eq!(query("r-1"), "/transfers?reference=r-1&limit=1");
    assert_eq!(query("1&limit=9#x?y=/../%26"), "/transfers?reference=1%26limit%3D9%23x%3Fy%3D%2F..%2F%2526&limit=1");
    assert_eq!(query("é"), "/transfers?reference=%C3%A9&limit=1");
    let segment = |value: Value| path_for("/transfers/{body.reference}/state", value);
    assert_eq!(segment(json!("r-1")).unwrap(), "/transfers/r-1/state");
    assert_eq!(segment(json!(17)).unwrap(), "/transfers/17/state");
    assert_eq!(segment(json!("a?b&c")).unwrap(), "/transfers/a%3Fb%26c/state");
    for value in ["..", ".", "a/b", "../x", "a\\b", "", " a", "a\n"] {
        assert_eq!(segment(json!(value)), None, "{value:?}");
    }
    for value in [json!(null), json!(1.5), json!(true), json!(["a"]), json!({ "a": 1 })] {
        assert_eq!(segment(value.clone()), None, "{value}");
    }
    assert_eq!(path_for("/transfers/{body.missing}", json!("r-1")), None);
    assert_eq!(segment(json!("x".repeat(3000))), None);
}
