//! Released arguments of a standing approval: the allowed releases, and the arguments that stay fixed.

use crate::held::{request, route};
use countersign_core::{
    bounded::{ActionTarget, Arguments, BadPattern, Pattern, Units, bound_text},
    held::{Fields, HttpRequest},
};
use countersign_protocol::{
    bounds::{Amount, Bound},
    project::Route,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const SHOWN: &str =
    r#"{"to":"acct-3344","amount":400.00,"currency":"EUR","note":"rent","lines":[{"n":1},{"n":2}]}"#;

/// The bank's route with a table of values.
pub(crate) fn bank_route() -> Route {
    route(json!({ "values": [{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }] }))
}

pub(crate) fn by_route() -> ActionTarget {
    ActionTarget::Route { id: "transfers.create".into() }
}

pub(crate) fn by_tool() -> ActionTarget {
    ActionTarget::Tool { name: "send_money".into() }
}

/// The arguments of a call at the gateway, with the units of its amounts.
pub(crate) fn call(body: &str) -> (Arguments, Units) {
    of(&request(body))
}

pub(crate) fn of(request: &HttpRequest) -> (Arguments, Units) {
    let route = bank_route();
    let fields = Fields::read(&route, request).unwrap();
    (Arguments::of_request(request, &fields), Units::of_route(&route, &fields))
}

pub(crate) fn tool(arguments: Value) -> Arguments {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Arguments::of_tool(&arguments)
}

pub(crate) fn released(released: Value) -> BTreeMap<String, Bound> {
    serde_json::from_value(released).unwrap()
}

pub(crate) fn pattern(open: Value) -> Result<Pattern, BadPattern> {
    let (arguments, units) = call(SHOWN);
    Pattern::new(by_route(), arguments, released(open), &units)
}

pub(crate) fn tool_pattern(arguments: Value, open: Value) -> Result<Pattern, BadPattern> {
    Pattern::new(by_tool(), tool(arguments), released(open), &Units::of_tool())
}

pub(crate) fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// R-7
#[test]
fn only_arguments_can_be_released() {
    for name in
        ["body.amont", "amount", "body", "body.lines.2.n", "body.lines.00.n", "body.to.x", "path.main", "body.amount."]
    {
        let refused = pattern(json!({ name: { "text": 5 } })).unwrap_err();
        let wanted = if name == "body" { "body is {" } else { "is not among the arguments" };
        assert!(refused.to_string().contains(wanted), "{name}: {refused}");
    }
}

/// R-7. Releasing the digest of a body would release the whole body.
#[test]
fn members_that_define_the_reading_of_the_body_cannot_be_released() {
    assert_eq!(pattern(json!({ "content_type": { "text": 99 } })), Err(BadPattern::SaysHow("content_type".into())));
    let opaque = HttpRequest { content_type: "text/plain".into(), ..request("hello") };
    let (arguments, units) = of(&opaque);
    let refused = Pattern::new(by_route(), arguments, released(json!({ "body_sha256": { "text": 64 } })), &units);
    assert_eq!(refused, Err(BadPattern::SaysHow("body_sha256".into())));
    let of_a_tool = tool_pattern(json!({ "content_type": "text/plain" }), json!({ "content_type": { "text": 99 } }));
    assert!(of_a_tool.is_ok());
}

/// R-7
#[test]
fn nothing_is_released_within_something_that_is() {
    let line = json!({ "one_of": [{ "n": 1 }, { "n": 7 }] });
    for inner in ["body.lines.0.n", "body.lines.0"] {
        let open = json!({ "body.lines": { "one_of": [[{ "n": 1 }, { "n": 2 }]] }, inner: line });
        let refused = pattern(open).unwrap_err();
        assert!(matches!(refused, BadPattern::Inside(_)), "{inner}: {refused}");
    }
    let beside = json!({ "body.lines.0": line, "body.lines.1.n": { "most": "9" } });
    assert!(pattern(beside).is_ok());
}

/// R-7
#[test]
fn a_name_that_could_mean_two_arguments_cannot_be_released() {
    let open = json!({ "to.name": { "text": 20 } });
    let two = json!({ "to": { "name": "Ada" }, "to.name": "Bob" });
    assert_eq!(tool_pattern(two, open.clone()), Err(BadPattern::TwoPlaces("to.name".into())));
    assert!(tool_pattern(json!({ "to": { "name": "Ada" } }), open.clone()).is_ok());
    assert!(tool_pattern(json!({ "to.name": "Ada" }), open).is_ok());
}

/// R-7
#[test]
fn an_amount_bounds_only_values_with_an_amount() {
    let bound = json!({ "most": "500" });
    for value in
        [json!("ten"), json!(-1), json!("1e2"), json!(1e30), json!(null), json!([1]), json!("007"), json!(true)]
    {
        let refused = tool_pattern(json!({ "n": value }), json!({ "n": bound }));
        assert_eq!(refused, Err(BadPattern::NotAnAmount("n".into())), "{value}");
    }
    assert!(tool_pattern(json!({ "n": "400.00" }), json!({ "n": bound })).is_ok());
}

/// R-7
#[test]
fn a_shown_argument_lies_within_its_own_bound() {
    for (name, bound) in [
        ("body.amount", json!({ "most": "399.99" })),
        ("body.amount", json!({ "least": "400.01", "most": "500" })),
        ("body.amount", json!({ "most": "500", "sum": "399.99" })),
        ("body.note", json!({ "text": 3 })),
        ("body.note", json!({ "one_of": ["Rent", "food"] })),
        ("body.amount", json!({ "one_of": ["400.00"] })),
        ("body.amount", json!({ "text": 10 })),
    ] {
        let refused = pattern(json!({ name: bound })).unwrap_err();
        assert!(matches!(refused, BadPattern::Outside { .. }), "{name} {bound}: {refused}");
    }
    let said = pattern(json!({ "body.amount": { "most": "399.99" } })).unwrap_err().to_string();
    assert_eq!(said, "body.amount is 400.00 and lies outside its own bound: at most 399.99 EUR");
}

/// R-7
#[test]
fn a_sum_or_unit_that_cannot_be_read_from_the_call_is_refused() {
    let lines = |bound: Value| pattern(json!({ "body.lines.0.n": bound }));
    for bound in [json!({ "most": "9", "sum": "90" }), json!({ "most": "9", "unit": "EUR" })] {
        assert_eq!(lines(bound), Err(BadPattern::NoUnit("body.lines.0.n".into())));
    }
    assert!(lines(json!({ "most": "9" })).is_ok());
    let of_tool = |bound: Value| tool_pattern(json!({ "n": 4, "currency": "EUR", "of": 7 }), json!({ "n": bound }));
    for bound in [
        json!({ "most": "9", "sum": "90" }),
        json!({ "most": "9", "unit": "EUR" }),
        json!({ "most": "9", "unit_from": "curency" }),
        json!({ "most": "9", "unit_from": "of" }),
    ] {
        assert_eq!(of_tool(bound.clone()), Err(BadPattern::NoUnit("n".into())), "{bound}");
    }
    let from_route = pattern(json!({ "body.amount": { "most": "500", "unit_from": "body.currency" } }));
    assert_eq!(from_route, Err(BadPattern::UnitFrom("body.amount".into())));
}

/// R-7
#[test]
fn a_bound_in_another_unit_than_the_shown_is_refused() {
    let other = BadPattern::OtherUnit { name: "body.amount".into(), is: "EUR".into(), bound: "USD".into() };
    assert_eq!(pattern(json!({ "body.amount": { "most": "500", "unit": "USD" } })), Err(other));
    let bound = json!({ "n": { "most": "9", "unit": "USD", "unit_from": "currency" } });
    let refused = tool_pattern(json!({ "n": 4, "currency": "EUR" }), bound);
    assert!(matches!(refused, Err(BadPattern::OtherUnit { .. })));
}

/// R-7. Two table entries with different units for one field yield no unit.
#[test]
fn a_table_that_gives_two_units_gives_none() {
    let value = |unit: &str| json!({ "name": unit, "from": "body.amount", "unit": unit });
    let route = route(json!({ "values": [value("EUR"), value("USD")] }));
    let request = request(SHOWN);
    let fields = Fields::read(&route, &request).unwrap();
    let open = released(json!({ "body.amount": { "most": "500", "sum": "900" } }));
    let arguments = Arguments::of_request(&request, &fields);
    let refused = Pattern::new(by_route(), arguments, open, &Units::of_route(&route, &fields));
    assert_eq!(refused, Err(BadPattern::NoUnit("body.amount".into())));
}

/// R-7
#[test]
fn arguments_with_two_readings_make_no_pattern() {
    let refused = tool_pattern(json!({ "amount": 1, "Amount": 2 }), json!({}));
    assert!(matches!(refused, Err(BadPattern::Arguments(_))), "{refused:?}");
}

/// R-7
#[test]
fn a_bound_takes_the_unit_that_was_shown() {
    let pattern = pattern(json!({ "body.amount": { "most": "500.00", "sum": "2000.00" } })).unwrap();
    let bound = &pattern.released()["body.amount"];
    assert_eq!(bound.unit(), Some("EUR"));
    assert_eq!(bound_text(bound), "at most 500.00 EUR, 2000.00 EUR altogether");
    let bound = json!({ "n": { "least": "1", "most": "9", "unit_from": "currency" } });
    let of_tool = tool_pattern(json!({ "n": 4, "currency": "USD" }), bound).unwrap();
    assert_eq!(bound_text(&of_tool.released()["n"]), "1 to 9 USD");
}

#[test]
fn bounds_are_shown_without_invisible_characters() {
    let told = |bound: Value| bound_text(&serde_json::from_value(bound).unwrap());
    assert_eq!(told(json!({ "text": 140 })), "a text of at most 140 characters");
    assert_eq!(told(json!({ "one_of": ["a", 5, null] })), "only \"a\" or 5 or null");
    assert_eq!(told(json!({ "one_of": ["a\u{202e}b\n"] })), "only \"a[U+202E]b\\n\"");
}

/// R-7. Parsing numbers as doubles would change the spelling of 400.00 and the value of 9007199254740993.
#[test]
fn a_pattern_comes_back_from_the_store_as_it_was() {
    let (arguments, units) = call(r#"{"to":"a","amount":400.00,"currency":"EUR","id":9007199254740993}"#);
    let open = released(json!({ "body.amount": { "most": "500.00", "sum": "2000.00" } }));
    let pattern = Pattern::new(by_route(), arguments, open, &units).unwrap();
    let stored = json!(pattern);
    assert_eq!(stored["what"], json!({ "is": "route", "id": "transfers.create" }));
    let text = stored["arguments"].as_str().unwrap();
    assert!(text.contains("400.00") && text.contains("9007199254740993"), "{text}");
    assert_eq!(serde_json::from_value::<Pattern>(stored.clone()).unwrap(), pattern);
    let bent = |name: &str, bound: Value| {
        let mut bent = stored.clone();
        bent["released"][name] = bound;
        serde_json::from_value::<Pattern>(bent)
    };
    assert!(bent("body.gone", json!({ "text": 5 })).is_err());
    assert!(bent("body.amount", json!({ "most": "500", "sum": "2000" })).is_err(), "nobody would count that sum");
    assert!(bent("body.amount", json!({ "most": "500", "sum": "2000", "unit": "EUR" })).is_ok());
}
