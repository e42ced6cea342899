//! A plan step describes its calls in the same form as the calls themselves.

use crate::{
    bounded::{bank_route, by_route, of, released},
    held::{request, route},
};
use countersign_core::{
    bounded::{Arguments, BadStep, Pattern, Units},
    held::{HttpRequest, Template, UnitNames},
};
use countersign_protocol::hash::Digest;
use serde_json::{Value, json};

fn step(arguments: Value) -> Result<Arguments, BadStep> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Arguments::of_step(&bank_route(), &arguments)
}

/// A step on the default account.
fn with(name: &str, value: Value) -> Result<Arguments, BadStep> {
    step(json!({ "path": { "account": "main" }, name: value }))
}

/// R-7
#[test]
fn a_step_that_no_call_could_match_is_refused() {
    for (arguments, why) in [
        (step(json!({})), BadStep::NotGiven("account".into())),
        (step(json!({ "path": { "account": "main", "x": "1" } })), BadStep::NotInPath("x".into())),
        (step(json!({ "path": { "account": 5 } })), BadStep::NotTexts("path")),
        (step(json!({ "path": "main" })), BadStep::NotTexts("path")),
        (with("query", json!({ "limit": 10 })), BadStep::NotTexts("query")),
        (with("header", json!({})), BadStep::Unknown("header".into())),
        (with("headers", json!({ "authorization": "x" })), BadStep::NotAHeader("authorization".into())),
        (with("headers", json!({ "if-match": "a", "If-Match": "b" })), BadStep::HeaderTwice("if-match".into())),
        (with("content_type", json!(5)), BadStep::ContentType),
        (with("content_type", json!("json")), BadStep::ContentType),
        (with("body_sha256", json!("00")), BadStep::Digest),
        (with("body_sha256", json!("A".repeat(64))), BadStep::Digest),
    ] {
        assert_eq!(arguments, Err(why));
    }
    let typed = |kind: &str, name: &str, value: Value| {
        step(json!({ "path": { "account": "main" }, "content_type": kind, name: value }))
    };
    assert_eq!(typed("text/plain", "body", json!("hello")), Err(BadStep::NotReadable));
    assert_eq!(typed("application/json", "body_sha256", json!("0".repeat(64))), Err(BadStep::Digest));
    assert_eq!(typed("application/x-www-form-urlencoded", "body", json!({ "n": 1 })), Err(BadStep::NotTexts("body")));
}

/// R-7
#[test]
fn a_step_fits_the_call_that_it_describes() {
    let plan = step(json!({
        "path": { "account": "main" }, "query": { "notify": "true" }, "headers": { "If-Match": "v1" },
        "body": { "to": "acct-3344", "amount": 400, "currency": "EUR" },
    }))
    .unwrap();
    let units = Units::of_route(&bank_route(), &plan.fields());
    let open = released(json!({ "body.amount": { "most": "500.00", "sum": "2000.00" } }));
    let pattern = Pattern::new(by_route(), plan, open, &units).unwrap();
    let headers = [("if-match".into(), "v1".into())].into();
    let real = HttpRequest { headers, ..request(r#"{"currency":"EUR","to":"acct-3344","amount":499.99}"#) };
    let (call, units) = of(&real);
    assert_eq!(pattern.fit(&call, &units).unwrap()[0].amount.to_string(), "499.99");
}

/// R-7
#[test]
fn forms_bodies_that_nobody_can_read_and_none_have_one_form_in_plan_and_call() {
    let call = |kind: &str, body: &str| of(&HttpRequest { content_type: kind.into(), ..request(body) }).0;
    let form = "application/x-www-form-urlencoded";
    let step = |arguments: Value| {
        let mut all = json!({ "path": { "account": "main" }, "query": { "notify": "true" } });
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        step(all).unwrap()
    };
    let planned = step(json!({ "content_type": form, "body": { "to.name": "Ada B", "n": "1" } }));
    assert_eq!(planned, call(form, "n=1&to.name=Ada+B"));
    let sha256 = Digest::of(b"hello").hex();
    assert_eq!(step(json!({ "content_type": "text/plain", "body_sha256": sha256 })), call("text/plain", "hello"));
    assert_eq!(step(json!({ "body_sha256": sha256 })), call("", "hello"));
    assert_eq!(step(json!({})), call("", ""));
    assert_eq!(step(json!({ "body": null })), call("application/json; charset=utf-8", "null"));
}

/// R-2. The owner's template renders from the plan step, before any call exists.
#[test]
fn the_owners_words_are_rendered_from_a_step() {
    let plan = with("body", json!({ "to": "acct-3344", "amount": 400, "currency": "EUR" })).unwrap();
    let described = route(json!({})).describe.unwrap().action;
    let told = Template::parse(&described).unwrap().render(&plan.fields(), &UnitNames::default()).unwrap();
    assert_eq!(told, "Send 400 “EUR” from “main” to “acct-3344”");
    let form = json!({
        "path": { "account": "main" }, "content_type": "application/x-www-form-urlencoded",
        "body": { "to.name": "Ada" },
    });
    let told = Template::parse("{body.to.name}")
        .unwrap()
        .render(&step(form).unwrap().fields(), &UnitNames::default())
        .unwrap();
    assert_eq!(told, "“Ada”");
}
