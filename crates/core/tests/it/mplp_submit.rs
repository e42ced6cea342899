//! The executable actions of plan steps, and their rendered descriptions.

use crate::held::{document, route};
use countersign_core::{
    decision::terms,
    mplp::submit::{BadAction, lifetime_s, planned},
    records::{PlannedAction, Point, TextAuthor},
};
use countersign_protocol::{
    aaep::event::Risk,
    mplp::{MplpId, PlanSubmission},
    project::ProjectDocument,
};
use serde_json::{Value, json};

/// The id of the nth step.
pub(crate) fn id(n: usize) -> MplpId {
    MplpId::parse(&format!("00000000-0000-4000-8000-{n:012}")).unwrap()
}

/// A plan with one step per action, described as `step 1` and so on; null for a step without an action.
pub(crate) fn submission(actions: &[Value]) -> PlanSubmission {
    let step = |n: usize| json!({ "step_id": id(n), "description": format!("step {n}"), "status": "pending" });
    let named = actions.iter().enumerate().filter(|(_, action)| !action.is_null());
    let plan = json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": id(900), "context_id": id(901), "title": "Pay the bills", "objective": "Nothing is owed",
            "status": "draft", "steps": (1..=actions.len()).map(step).collect::<Vec<_>>(),
        },
        "actions": named.map(|(at, action)| (id(at + 1).to_string(), action.clone())).collect::<serde_json::Map<_, _>>(),
    });
    PlanSubmission::read(plan.to_string().as_bytes()).unwrap()
}

/// R-7
#[test]
fn a_plan_for_more_calls_than_one_approval_may_cover_is_refused() {
    let mail = |uses: i64| json!({ "tool": "send_mail", "arguments": { "to": "a" }, "uses": uses });
    let of = |actions: &[Value]| planned(&bank(json!({})), &submission(actions)).map(drop);
    assert!(of(&[mail(100)]).is_ok() && of(&[mail(60), Value::Null, mail(40)]).is_ok());
    let refused = of(&[mail(1), mail(101)]).unwrap_err();
    assert_eq!((refused.number, &refused.why), (2, &BadAction::TooOften { uses: 101, most: 100 }));
    let refused = of(&[mail(60), Value::Null, mail(41)]).unwrap_err();
    assert_eq!((refused.number, &refused.why), (3, &BadAction::TooMany { calls: 101, most: 100 }));
    assert!(refused.to_string().contains("at most 100"), "{refused}");
    // Calls that need an approval of their own are not covered by the approval of the plan.
    let unknown = |uses: i64| json!({ "tool": "other", "arguments": {}, "uses": uses });
    assert!(of(&[mail(100), unknown(100)]).is_ok());
}

/// A bank with a reversible transfer of medium risk, and a known tool.
pub(crate) fn bank(with: Value) -> ProjectDocument {
    let mut members = json!({
        "routes": [
            sending(json!({})),
            route(json!({ "id": "accounts.list", "method": "GET", "path": "/v1/accounts/{account}", "action": "accounts.read",
                          "irreversible": false, "headers": null, "describe": null })),
            route(json!({ "id": "transfers.own", "path": "/v1/accounts/own/transfers" })),
        ],
        "actions": [{ "name": "send_mail", "irreversible": false, "risk": "low", "lease_seconds": 7 }],
    });
    for (name, value) in with.as_object().unwrap() {
        members[name] = value.clone();
    }
    document(members)
}

pub(crate) fn sending(with: Value) -> Value {
    let mut members = json!({
        "irreversible": false, "requires_confirmation": true, "risk": "medium", "lease_seconds": 9,
        "values": [{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }],
    });
    for (name, value) in with.as_object().unwrap() {
        members[name] = value.clone();
    }
    json!(route(members))
}

/// A transfer of 400 EUR with some members of the action overwritten.
pub(crate) fn transfer(with: Value) -> Value {
    let mut action = json!({
        "route": "transfers.create",
        "arguments": { "path": { "account": "main" }, "body": { "to": "acct-3344", "amount": 400, "currency": "EUR" } },
    });
    for (name, value) in with.as_object().unwrap() {
        action[name] = value.clone();
    }
    action
}

pub(crate) fn mail(arguments: Value, released: Value) -> Value {
    json!({ "tool": "send_mail", "arguments": arguments, "released": released })
}

pub(crate) fn one(document: &ProjectDocument, action: Value) -> Result<PlannedAction, BadAction> {
    match planned(document, &submission(&[action])) {
        Ok(mut planned) => Ok(planned.remove(&id(1)).unwrap()),
        Err(bad) => Err(bad.why),
    }
}

fn refused(document: &ProjectDocument, action: Value) -> String {
    one(document, action).unwrap_err().to_string()
}

fn shown(action: Value) -> String {
    one(&bank(json!({})), action).unwrap().shown
}

#[test]
fn a_step_without_a_possible_question_is_named_with_a_remedy() {
    let why = planned(&bank(json!({})), &submission(&[Value::Null, json!({ "route": "nowhere" })])).unwrap_err();
    assert_eq!((why.number, &why.step), (2, &id(2)));
    let said = why.to_string();
    assert!(said.starts_with(&format!("step 2 ({}): there is no route \"nowhere\"", id(2))), "{said}");
}

#[test]
fn a_call_without_a_question_needs_no_approval_in_a_plan() {
    let why =
        refused(&bank(json!({})), json!({ "route": "accounts.list", "arguments": { "path": { "account": "1" } } }));
    assert!(why.contains("leave the action out"), "{why}");
}

#[test]
fn a_name_that_cannot_be_announced_is_no_tool() {
    for name in ["", "send mail", "1st", "send\u{202e}"] {
        let why = one(&bank(json!({})), json!({ "tool": name })).unwrap_err();
        assert!(matches!(why, BadAction::NotATool(_)), "{name:?}: {why}");
        assert!(!why.to_string().contains('\u{202e}'));
    }
}

/// R-7
#[test]
fn no_argument_of_an_irreversible_high_risk_action_is_released() {
    let open = json!({ "body.to": { "one_of": ["acct-3344", "acct-1"] } });
    let worst = bank(json!({ "routes": [sending(json!({ "irreversible": true, "risk": "high" }))] }));
    assert!(matches!(one(&worst, transfer(json!({ "released": open }))), Err(BadAction::Releases(_))));
    assert!(one(&worst, transfer(json!({ "uses": 3 }))).is_ok(), "every argument as it is shown");
    for (irreversible, risk) in [(true, "medium"), (false, "high")] {
        let document = bank(json!({ "routes": [sending(json!({ "irreversible": irreversible, "risk": risk }))] }));
        assert!(one(&document, transfer(json!({ "released": open }))).is_ok(), "{irreversible} {risk}");
    }
}

/// R-1, R-7
#[test]
fn a_tool_that_nobody_knows_counts_as_irreversible_and_of_high_risk() {
    let unknown = |released: Value| json!({ "tool": "launch", "arguments": { "at": "dawn" }, "released": released });
    let step = one(&bank(json!({})), unknown(json!({}))).unwrap();
    assert_eq!((step.risk, step.irreversible, step.asks_again), (Risk::High, true, true));
    let open = one(&bank(json!({})), unknown(json!({ "at": { "text": 9 } })));
    assert_eq!(open, Err(BadAction::Releases("launch".into())));
}

/// R-7: a scope or the other policy member can declare it irreversible, too.
#[test]
fn no_route_talks_itself_out_of_being_irreversible() {
    let open = json!({ "body.to": { "text": 20 } });
    let by_word = sending(json!({ "reversibility": "irreversible", "risk": "high" }));
    let scope = json!([{ "id": "transfers.write", "description": "Send", "allows": ["transfers.send"],
                         "intent_types": ["PAY"], "irreversible": true }]);
    for document in [
        bank(json!({ "routes": [by_word] })),
        bank(json!({ "scopes": scope, "routes": [sending(json!({ "risk": "high" }))] })),
    ] {
        let why = one(&document, transfer(json!({ "released": open }))).unwrap_err();
        assert_eq!(why, BadAction::Releases("transfers.send".into()));
    }
}

/// R-7
#[test]
fn a_released_argument_must_exist_and_lie_within_its_own_bound() {
    let bank = bank(json!({}));
    for (released, because) in [
        (json!({ "body.memo": { "text": 10 } }), "not among the arguments"),
        (json!({ "body.amount": { "most": "399.99", "unit": "EUR" } }), "outside its own bound"),
        (json!({ "body.amount": { "most": "500", "unit": "USD" } }), "unit"),
        (json!({ "body.to": { "most": "500" } }), "amount"),
        (
            json!({ "body": { "one_of": [{ "to": "acct-3344", "amount": 400, "currency": "EUR" }] }, "body.to": { "text": 30 } }),
            "within or around",
        ),
        (json!({ "content_type": { "text": 30 } }), "how the body is parsed"),
    ] {
        let why = refused(&bank, transfer(json!({ "released": released })));
        assert!(why.contains(because), "{released}: {why}");
    }
}

/// R-3
#[test]
fn a_request_that_the_gateway_would_refuse_is_no_step() {
    let bank = bank(json!({}));
    let body = || json!({ "to": "acct-3344", "amount": 400, "currency": "EUR" });
    for (arguments, because) in [
        (json!({ "body": body() }), "path.account is missing"),
        (json!({ "path": { "account": "main", "x": "1" }, "body": body() }), "is not part of the route's path"),
        (json!({ "path": { "account": "" }, "body": body() }), "path.account"),
        (json!({ "path": { "account": "a\nb" }, "body": body() }), "path.account"),
        (json!({ "path": { "account": "a/b" }, "body": body() }), "would not go by the route"),
        (json!({ "path": { "account": ".." }, "body": body() }), "would not go by the route"),
        (json!({ "path": { "account": "own" }, "body": body() }), "would not go by the route"),
        (json!({ "path": { "account": "main" }, "query": { "a": "1", "A": "2" }, "body": body() }), "twice"),
        (json!({ "path": { "account": "main" }, "headers": { "cookie": "1" }, "body": body() }), "cookie"),
        (
            json!({ "path": { "account": "main" }, "body": { "to": "x", "To": "y", "amount": 1, "currency": "EUR" } }),
            "case only",
        ),
        (
            json!({ "path": { "account": "main" }, "body": { "to": "x", "amount": -1, "currency": "EUR" } }),
            "body.amount must be digits",
        ),
        (json!({ "path": { "account": "main" }, "body": { "to": "x", "amount": 1, "currency": "" } }), "unit"),
        (json!({ "path": { "account": "main" }, "body": { "amount": 1, "currency": "EUR" } }), "body.to is missing"),
        (json!({ "path": { "account": "main" } }), "missing"),
        (json!({ "path": { "account": "main" }, "body": body(), "method": "GET" }), "no part of a request"),
        (json!({ "path": { "account": "main" }, "body": body(), "content_type": "text/plain" }), "body_sha256"),
        (
            json!({ "path": { "account": "main" }, "body": body(), "content_type": "application/json; charset=utf-16" }),
            "content_type",
        ),
    ] {
        let why = refused(&bank, transfer(json!({ "arguments": arguments })));
        assert!(why.contains(because), "{arguments}: {why}");
    }
}

#[test]
fn a_body_that_would_not_arrive_as_written_is_no_step() {
    let bank = bank(json!({ "routes": [sending(json!({ "describe": null, "values": null }))] }));
    let empty =
        json!({ "path": { "account": "main" }, "content_type": "application/x-www-form-urlencoded", "body": {} });
    assert_eq!(one(&bank, transfer(json!({ "arguments": empty }))), Err(BadAction::OtherForm));
}

#[test]
fn every_text_of_the_owner_needs_the_members_that_it_names() {
    for member in ["consequence", "terse", "normal", "detailed"] {
        let mut describe = json!({ "action": "Send" });
        describe[member] = json!("{body.memo}");
        let bank = bank(json!({ "routes": [sending(json!({ "describe": describe }))] }));
        assert!(refused(&bank, transfer(json!({}))).contains("body.memo is missing"), "{member}");
    }
    for member in ["effect", "resource"] {
        let mut with = json!({});
        with[member] = json!("pay:{body.invoice}");
        let bank = bank(json!({ "routes": [sending(with)] }));
        assert!(refused(&bank, transfer(json!({}))).contains("body.invoice is missing"), "{member}");
    }
}

#[test]
fn a_plan_lasts_no_longer_than_the_project_allows() {
    let bank = bank(json!({ "plans": { "default_seconds": 600, "max_seconds": 900 } }));
    let lasting = |seconds: Option<i64>| {
        lifetime_s(&bank, &PlanSubmission { lasts_seconds: seconds, ..submission(&[Value::Null]) })
    };
    for wrong in [901, 0, -1, i64::MAX] {
        assert_eq!(lasting(Some(wrong)).unwrap_err().to_string(), "lasts_seconds must be 1 to 900 here");
    }
    assert_eq!((lasting(None), lasting(Some(900)), lasting(Some(1))), (Ok(600), Ok(900), Ok(1)));
}

/// R-2
#[test]
fn a_call_at_the_gateway_is_shown_in_the_owners_words() {
    let bank = bank(json!({}));
    let step = one(&bank, transfer(json!({ "uses": 3 }))).unwrap();
    assert_eq!(step.shown, "Send 400 EUR from “main” to “acct-3344”");
    assert_eq!((step.words, step.point, step.tool.as_str()), (TextAuthor::Owner, Point::Gateway, "transfers.send"));
    assert_eq!((step.risk, step.irreversible, step.lease_s, step.asks_again), (Risk::Medium, false, 9, false));
    assert_eq!(step.rules, terms::rules(&bank, "transfers.send", Some("transfers.create")));
}

/// R-2
#[test]
fn a_call_of_the_agents_own_is_shown_whole_and_as_the_agents() {
    let bank = bank(json!({}));
    let step = one(&bank, mail(json!({ "to": "a@b.example", "lines": [1, { "n": 2.5 }] }), json!({}))).unwrap();
    assert_eq!(step.shown, r#"send_mail(lines: [1, {"n": 2.5}], to: "a@b.example")"#);
    assert_eq!((step.words, step.point, step.tool.as_str()), (TextAuthor::Agent, Point::AgentClaimed, "send_mail"));
    assert_eq!((step.risk, step.irreversible, step.lease_s, step.asks_again), (Risk::Low, false, 7, false));
    assert_eq!(step.rules, terms::rules(&bank, "send_mail", None));
}

#[test]
fn the_projects_line_says_which_steps_ask_again() {
    for (line, low, medium, high) in [
        ("low", true, true, true),
        ("medium", false, true, true),
        ("high", false, false, true),
        ("never", false, false, false),
    ] {
        let bank = bank(json!({ "plans": { "ask_again_from": line } }));
        let asks = |action: Value| one(&bank, action).unwrap().asks_again;
        let got = (asks(mail(json!({}), json!({}))), asks(transfer(json!({}))), asks(json!({ "tool": "launch" })));
        assert_eq!(got, (low, medium, high), "{line}");
    }
}

/// R-7: the owner's sentence states the bound in place of the value, with its unit once.
#[test]
fn a_released_argument_is_shown_by_its_bound() {
    let amount = json!({ "body.amount": { "most": "500.00", "sum": "2000.00", "unit": "EUR" } });
    assert_eq!(
        shown(transfer(json!({ "released": amount }))),
        "Send at most 500.00 EUR, 2000.00 EUR altogether from “main” to “acct-3344”"
    );
    let least =
        json!({ "body.amount": { "least": "0.01", "most": "500" }, "body.to": { "one_of": ["acct-3344", "acct, 1"] } });
    assert_eq!(
        shown(transfer(json!({ "released": least }))),
        "Send 0.01 to 500 EUR from “main” to only \"acct-3344\" or \"acct, 1\""
    );
    let account = json!({ "path.account": { "text": 10 } });
    assert_eq!(
        shown(transfer(json!({ "released": account }))),
        "Send 400 EUR from a text of at most 10 characters to “acct-3344”"
    );
}

#[test]
fn a_unit_in_the_owners_own_words_is_not_repeated_and_no_other_word_is_lost() {
    let told = |template: &str, with: Value| {
        let values = json!([{ "name": "amount", "from": "body.amount", "unit": "EUR" }]);
        let bank =
            bank(json!({ "routes": [sending(json!({ "describe": { "action": template }, "values": values }))] }));
        let released = json!({ "body.amount": { "most": "500" } });
        let mut body = json!({ "to": "acct-3344", "amount": 400, "currency": "EUR" });
        body.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        let arguments = json!({ "path": { "account": "main" }, "body": body });
        one(&bank, transfer(json!({ "arguments": arguments, "released": released }))).unwrap().shown
    };
    assert_eq!(told("Pay {body.amount} EUR now", json!({})), "Pay at most 500 EUR now");
    assert_eq!(told("Pay {body.amount} {body.currency} now", json!({})), "Pay at most 500 EUR now");
    assert_eq!(told("Pay {body.amount} EUROPE", json!({})), "Pay at most 500 EUR EUROPE");
    assert_eq!(told("Pay {body.amount} {body.to}", json!({ "to": "EUR-1" })), "Pay at most 500 EUR “EUR-1”");
    assert_eq!(told("Pay {body.amount}, {body.currency}", json!({})), "Pay at most 500 EUR, “EUR”");
}

/// R-7
#[test]
fn released_arguments_missing_in_the_owners_sentence_follow_it() {
    let body = json!({ "to": "acct-3344", "amount": 400, "currency": "EUR", "memo": "rent", "tags": ["a"] });
    let action = transfer(json!({
        "arguments": { "path": { "account": "main" }, "body": body },
        "released": { "body.memo": { "text": 140 }, "body.tags.0": { "one_of": ["a", "b"] } },
    }));
    assert_eq!(
        shown(action),
        "Send 400 EUR from “main” to “acct-3344” (body.memo: a text of at most 140 characters, body.tags.0: only \"a\" or \"b\")"
    );
}

/// R-7: a placeholder may refer to a parent or a child of the released field.
#[test]
fn a_bound_is_named_at_any_depth() {
    let bank = |template: &str| {
        bank(json!({ "routes": [sending(json!({ "describe": { "action": template }, "values": null }))] }))
    };
    let action = |released: Value| {
        let body = json!({ "to": { "iban": "CH1", "name": "Ann" } });
        transfer(json!({ "arguments": { "path": { "account": "main" }, "body": body }, "released": released }))
    };
    let around = one(&bank("To {body.to}"), action(json!({ "body.to.name": { "text": 5 } }))).unwrap();
    assert_eq!(around.shown, r#"To {"iban": "CH1", "name": a text of at most 5 characters}"#);
    let whole =
        json!({ "body.to": { "one_of": [{ "iban": "CH1", "name": "Ann" }, { "iban": "CH2", "name": "Bob" }] } });
    let within = one(&bank("To {body.to.name}"), action(whole)).unwrap();
    assert_eq!(within.shown, r#"To only {"iban":"CH1","name":"Ann"} or {"iban":"CH2","name":"Bob"}"#);
}

/// R-7: field names of a form may contain dots.
#[test]
fn a_field_of_a_form_is_never_taken_for_another() {
    let describe = json!({ "action": "Set {body.a} and {body.a.b}" });
    let bank = bank(json!({ "routes": [sending(json!({ "describe": describe, "values": null }))] }));
    let form = json!({ "path": { "account": "main" }, "content_type": "application/x-www-form-urlencoded",
                       "body": { "a": "1 & 2", "a.b": "fixed=%" } });
    let step = one(&bank, transfer(json!({ "arguments": form, "released": { "body.a": { "text": 9 } } }))).unwrap();
    assert_eq!(step.shown, "Set a text of at most 9 characters and “fixed=%”");
}

#[test]
fn without_words_of_the_owner_the_whole_request_is_shown() {
    let bank = bank(json!({ "routes": [sending(json!({ "describe": null }))] }));
    let arguments = json!({
        "path": { "account": "Zürich 1" }, "query": { "notify": "true & more" }, "headers": { "If-Match": "\"v7\"" },
        "body": { "amount": 400, "currency": "EUR", "x: 1": 2 },
    });
    let released = json!({ "body.amount": { "most": "500" } });
    let step = one(&bank, transfer(json!({ "arguments": arguments, "released": released }))).unwrap();
    assert_eq!(
        step.shown,
        "POST /v1/accounts/{account}/transfers (body.amount: at most 500 EUR, body.currency: \"EUR\", \
         body.\"x: 1\": 2, content_type: \"application/json\", headers.if-match: \"\\\"v7\\\"\", \
         path.account: \"Zürich 1\", query.notify: \"true & more\")"
    );
    assert_eq!(step.words, TextAuthor::Owner);
}

/// R-2: text by an agent cannot pose as a bound, as another argument, or as no argument at all.
#[test]
fn no_argument_can_pose_as_something_else() {
    let told = |arguments: Value| shown(mail(arguments, json!({ "to": { "one_of": ["a", "b"] } })));
    assert_eq!(
        told(json!({ "to": "a", "memo": "x\", amount: only 1" })),
        r#"send_mail(to: only "a" or "b", memo: "x\", amount: only 1")"#
    );
    assert_eq!(told(json!({ "to": "a", "amount: 1, x": 5 })), r#"send_mail(to: only "a" or "b", "amount: 1, x": 5)"#);
    let hidden = told(json!({ "to": "a", "m\u{202e}": "\u{202e}1\u{200b}\n", "o": { "\u{2066}": 1 } }));
    assert_eq!(hidden, r#"send_mail(to: only "a" or "b", "m[U+202E]": "[U+202E]1[U+200B]\n", o: {"[U+2066]": 1})"#);
}

/// R-7: an omitted choice could be the one that matters.
#[test]
fn every_choice_is_listed() {
    let choices: Vec<String> = (0..100).map(|n| format!("account-with-quite-a-long-name-{n}")).collect();
    let told = shown(mail(json!({ "to": choices[0] }), json!({ "to": { "one_of": choices } })));
    assert!(choices.iter().all(|choice| told.contains(&format!("\"{choice}\""))));
    let text = "m".repeat(50_000);
    assert!(shown(mail(json!({ "memo": text }), json!({}))).contains(&text));
}
