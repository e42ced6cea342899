//! Whether a call fits an approved pattern, and the deviations reported if it does not.

use crate::{
    bounded::{SHOWN, amount, by_route, call, of, pattern, tool, tool_pattern},
    held::request,
};
use countersign_core::{
    bounded::{AmountUse, Arguments, Pattern, Units, differences},
    held::HttpRequest,
};
use serde_json::{Value, json};

/// The deviations of a call that does not fit.
fn told(pattern: &Pattern, (call, units): &(Arguments, Units)) -> Vec<String> {
    pattern.fit(call, units).unwrap_err().iter().map(|difference| difference.text("en")).collect()
}

/// The approved body with some members overwritten; null removes a member.
fn but(changes: Value) -> (Arguments, Units) {
    let mut body: Value = serde_json::from_str(SHOWN).unwrap();
    for (name, value) in changes.as_object().unwrap() {
        let members = body.as_object_mut().unwrap();
        if value.is_null() {
            members.remove(name)
        } else {
            members.insert(name.clone(), value.clone())
        };
    }
    call(&body.to_string())
}

fn open() -> Pattern {
    pattern(
        json!({ "body.amount": { "least": "10", "most": "500.00", "sum": "2000.00" }, "body.note": { "text": 10 } }),
    )
    .unwrap()
}

/// R-7
#[test]
fn an_argument_that_was_not_released_is_as_it_was_shown() {
    let fixed = pattern(json!({})).unwrap();
    for (changes, wanted) in [
        (json!({ "amount": 4000 }), "body.amount is 4000 instead of 400.00"),
        (json!({ "amount": "400.00" }), "body.amount is \"400.00\" instead of 400.00"),
        (json!({ "to": "acct-6666" }), "body.to is \"acct-6666\" instead of \"acct-3344\""),
        (json!({ "to": true }), "body.to is true instead of \"acct-3344\""),
        (json!({ "lines": [{ "n": 2 }, { "n": 1 }] }), "body.lines.0.n is 2 instead of 1"),
        (json!({ "lines": {} }), "body.lines is {} instead of [{\"n\":1},{\"n\":2}]"),
    ] {
        assert_eq!(told(&fixed, &but(changes.clone())).first().unwrap(), wanted, "{changes}");
    }
}

/// R-7
#[test]
fn an_argument_not_mentioned_may_not_appear() {
    for (changes, wanted) in [
        (json!({ "fee": 0 }), "body.fee is not in the plan"),
        (json!({ "body.amount": 5 }), "body.body.amount is not in the plan"),
        (json!({ "lines": [{ "n": 1 }, { "n": 2 }, {}] }), "body.lines.2 is not in the plan"),
        (json!({ "lines": [{ "n": 1, "x": null }, { "n": 2 }] }), "body.lines.0.x is not in the plan"),
    ] {
        assert_eq!(told(&open(), &but(changes)), [wanted]);
    }
    let more = HttpRequest { target: "/v1/accounts/main/transfers?notify=true&urgent=1".into(), ..request(SHOWN) };
    assert_eq!(told(&open(), &of(&more)), ["query.urgent is not in the plan"]);
    let matched = HttpRequest { headers: [("if-match".into(), "*".into())].into(), ..request(SHOWN) };
    assert_eq!(told(&open(), &of(&matched)), ["headers.if-match is not in the plan"]);
}

/// R-7
#[test]
fn an_argument_that_was_shown_may_not_be_missing_even_if_it_was_released() {
    assert_eq!(told(&open(), &but(json!({ "to": null }))), ["body.to is missing"]);
    assert_eq!(told(&open(), &but(json!({ "note": null }))), ["body.note is missing"]);
    assert_eq!(told(&open(), &but(json!({ "lines": [{ "n": 1 }] }))), ["body.lines.1 is missing"]);
    let bare = HttpRequest { content_type: String::new(), ..request("") };
    let told = told(&open(), &of(&bare));
    assert_eq!(told, ["body is missing", "content_type is missing"]);
}

/// R-7
#[test]
fn the_path_the_query_and_the_kind_of_body_are_arguments() {
    let other = HttpRequest { target: "/v1/accounts/other/transfers?notify=true".into(), ..request(SHOWN) };
    assert_eq!(told(&open(), &of(&other)), ["path.account is \"other\" instead of \"main\""]);
    let silent = HttpRequest { target: "/v1/accounts/main/transfers?notify=false".into(), ..request(SHOWN) };
    assert_eq!(told(&open(), &of(&silent)), ["query.notify is \"false\" instead of \"true\""]);
    let kind = |content_type: &str| of(&HttpRequest { content_type: content_type.into(), ..request(SHOWN) });
    let wanted = "content_type is \"application/merge-patch+json\" instead of \"application/json\"";
    assert_eq!(told(&open(), &kind("application/merge-patch+json")), [wanted]);
    let (call, units) = kind("Application/JSON; charset=UTF-8");
    assert!(open().fit(&call, &units).is_ok(), "JSON has no other charset");
    let profile = told(&open(), &kind("application/json; profile=batch"));
    assert_eq!(profile, ["content_type is \"application/json; profile=batch\" instead of \"application/json\""]);
    let opaque = told(&open(), &kind("text/plain"));
    assert!(opaque.iter().any(|line| line == "body is missing"), "{opaque:?}");
    assert!(opaque.iter().any(|line| line == "body_sha256 is not in the plan"), "{opaque:?}");
}

/// R-7
#[test]
fn a_released_argument_stays_within_its_bound() {
    for (changes, wanted) in [
        (json!({ "amount": 500.01 }), "body.amount is 500.01 EUR, 10 to 500.00 EUR"),
        (json!({ "amount": 9.99 }), "body.amount is 9.99 EUR, 10 to 500.00 EUR"),
        (json!({ "amount": -20 }), "body.amount is -20 EUR, 10 to 500.00 EUR"),
        (json!({ "amount": 1e30 }), "body.amount is 1e+30 EUR, 10 to 500.00 EUR"),
        (json!({ "amount": "100" }), "body.amount is \"100\" EUR, 10 to 500.00 EUR"),
        (json!({ "amount": [100] }), "body.amount is [100] EUR, 10 to 500.00 EUR"),
        (json!({ "note": "far too long" }), "body.note is \"far too long\", a text of at most 10 characters"),
        (json!({ "note": "a\nb" }), "body.note is \"a\\nb\", a text of at most 10 characters"),
        (json!({ "note": 5 }), "body.note is 5, a text of at most 10 characters"),
    ] {
        assert_eq!(told(&open(), &but(changes.clone())), [wanted], "{changes}");
    }
    let most = pattern(json!({ "body.amount": { "most": "500.00" } })).unwrap();
    assert_eq!(told(&most, &but(json!({ "amount": 600 }))), ["body.amount is 600 EUR, at most 500.00 EUR"]);
    let chosen = pattern(json!({ "body.to": { "one_of": ["acct-3344", "acct-5566"] } })).unwrap();
    let wanted = "body.to is \"acct-7\", only \"acct-3344\" or \"acct-5566\"";
    assert_eq!(told(&chosen, &but(json!({ "to": "acct-7" }))), [wanted]);
    let (call, units) = but(json!({ "to": "acct-5566" }));
    assert_eq!(chosen.fit(&call, &units), Ok(vec![]));
}

/// R-7. Releasing the currency does not turn 400 JPY into 400 EUR.
#[test]
fn an_amount_in_another_unit_does_not_fit_even_where_the_unit_was_released() {
    let open = json!({ "body.amount": { "most": "500.00" }, "body.currency": { "one_of": ["EUR", "JPY"] } });
    let pattern = pattern(open).unwrap();
    assert_eq!(told(&pattern, &but(json!({ "currency": "JPY" }))), ["body.amount is 400.0 JPY, at most 500.00 EUR"]);
    let of_tool = tool_pattern(
        json!({ "n": "4.00", "currency": "EUR" }),
        json!({ "n": { "most": "9", "unit_from": "currency" }, "currency": { "text": 3 } }),
    )
    .unwrap();
    let call = |currency: Value| (tool(json!({ "n": "4.00", "currency": currency })), Units::of_tool());
    assert_eq!(told(&of_tool, &call(json!("USD"))), ["n is 4.00 USD, at most 9 EUR"]);
    let (euros, units) = call(json!("EUR"));
    assert_eq!(of_tool.fit(&euros, &units).unwrap()[0].unit.as_deref(), Some("EUR"));
}

/// R-7. If the gateway supplies no units, no amount with a unit fits.
#[test]
fn an_amount_whose_unit_is_unknown_does_not_fit() {
    let (arguments, _) = call(SHOWN);
    assert_eq!(told(&open(), &(arguments, Units::default())), ["body.amount is 400.00, 10 to 500.00 EUR"]);
}

/// R-7
#[test]
fn numbers_are_equal_by_their_exact_value_and_never_by_a_double() {
    let at = |digits: &str| call(&format!("{{\"n\":{digits}}}"));
    let same = [("82000", "82000.00"), ("0.10", "0.1"), ("-5", "-5.0"), ("0", "-0.00"), ("1e2", "1e2")];
    let other = [
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("100", "1e2"),
        ("1e2", "1E2"),
        ("1e400", "2e400"),
        ("1e400", "1e401"),
        ("1.5e1", "1.5e10"),
        ("5", "-5"),
        ("10", "1"),
        ("1.0", "10"),
    ];
    for (left, right, equal) in same.map(|(l, r)| (l, r, true)).into_iter().chain(other.map(|(l, r)| (l, r, false))) {
        for (was, is) in [(left, right), (right, left)] {
            let (arguments, units) = at(was);
            let pattern = Pattern::new(by_route(), arguments, Default::default(), &units).unwrap();
            let (call, units) = at(is);
            assert_eq!(pattern.fit(&call, &units).is_ok(), equal, "{was} and {is}");
        }
    }
}

/// R-7
#[test]
fn the_order_of_members_is_irrelevant_and_a_fitting_call_names_its_amount() {
    let body = r#"{"lines":[{"n":1.0},{"n":2}],"note":"food","currency":"EUR","to":"acct-3344","amount":499.990}"#;
    let (call, units) = call(body);
    let taken = AmountUse { name: "body.amount".into(), amount: amount("499.99"), unit: Some("EUR".into()) };
    assert_eq!(open().fit(&call, &units), Ok(vec![taken]));
}

/// R-7. Only the released path is open; another member with the same dotted name is not.
#[test]
fn a_member_with_a_dot_in_its_name_is_not_the_released_one() {
    let pattern = tool_pattern(json!({ "to": { "name": "Ada" } }), json!({ "to.name": { "text": 20 } })).unwrap();
    let call = (tool(json!({ "to": { "name": "Ada" }, "to.name": "Bob" })), Units::of_tool());
    assert_eq!(told(&pattern, &call), ["to.name is not in the plan"]);
    let call = (tool(json!({ "to.name": "Bob" })), Units::of_tool());
    assert_eq!(told(&pattern, &call), ["to is missing", "to.name is not in the plan"]);
}

/// R-7
#[test]
fn nothing_invisible_or_wordy_misleads_in_a_difference() {
    let wordy = but(json!({ "x is 1 instead of 2, and y": "5 instead of 6" }));
    assert_eq!(told(&open(), &wordy), ["body.\"x is 1 instead of 2, and y\" is not in the plan"]);
    let turned = but(json!({ "to": "acct\u{202e}4433\u{200b}" }));
    let wanted = "body.to is \"acct[U+202E]4433[U+200B]\" instead of \"acct-3344\"";
    assert_eq!(told(&open(), &turned), [wanted]);
    let broken = but(json!({ "a\nb": 1 }));
    assert_eq!(told(&open(), &broken), ["body.\"a\\nb\" is not in the plan"]);
    let long = told(&open(), &but(json!({ "to": "x".repeat(5000) }))).remove(0);
    assert!(long.len() < 500 && long.contains("more characters"), "{long}");
}

/// R-7. The number of reported deviations is capped.
#[test]
fn a_call_that_differs_in_everything_is_described_briefly() {
    let flood: serde_json::Map<String, Value> = (0..5000).map(|n| (format!("x{n}"), json!(n))).collect();
    assert_eq!(told(&open(), &but(Value::Object(flood))).len(), 50);
}

#[test]
fn the_nearest_pattern_of_the_same_action_is_compared() {
    let near = open();
    let far = pattern(json!({})).unwrap();
    let elsewhere = tool_pattern(json!({}), json!({})).unwrap();
    let (call, units) = but(json!({ "amount": 600, "note": "food" }));
    let all = [(1, &elsewhere), (2, &far), (3, &near)];
    let (key, found) = differences(all, &by_route(), &call, &units).unwrap();
    assert_eq!((key, found.len()), (3, 1));
    assert_eq!(found[0].text("en"), "body.amount is 600 EUR, 10 to 500.00 EUR");
    assert_eq!(differences([(1, &elsewhere)], &by_route(), &call, &units), None);
    let within = json!({ "within": { "between": { "least": "10", "most": "500.00 EUR" } } });
    assert_eq!(json!(found), json!([{ "name": "body.amount", "is": "600 EUR", "was": within }]));
}
