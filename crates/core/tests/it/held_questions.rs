//! The confirmation request shown for a rendered request.

use crate::held::{BODY, request, route};
use countersign_core::{
    decision::runs::{Composition, RunTexts},
    held::{Fields, HttpRequest, UnreadableRequest, question},
    records::Confirmation,
};
use countersign_protocol::{
    aaep::event::YesNo,
    hash::Digest,
    question::{ProposedPlan, ProposedStep, QuestionFacts},
};
use serde_json::{Value, json};

fn asked(with: Value, request: &HttpRequest) -> Result<Confirmation, UnreadableRequest> {
    let route = route(with);
    question(&route, request, &Fields::read(&route, request)?)
}

fn texts(asked: &Confirmation) -> RunTexts {
    Composition::of_request(asked).texts("en")
}

fn describe(action: &str) -> Value {
    json!({ "describe": { "action": action } })
}

fn action(template: &str, body: &str) -> String {
    asked(describe(template), &request(body)).unwrap().action
}

/// R-3
#[test]
fn a_member_that_is_missing_is_refused_and_never_rendered_empty() {
    for (template, missing) in [
        ("{body.fee}", "body.fee"),
        ("{body.to.account}", "body.to.account"),
        ("{query.dry}", "query.dry"),
        ("{header.if-match}", "header.if-match"),
        ("{body.0}", "body.0"),
    ] {
        let why = asked(describe(template), &request(BODY)).unwrap_err();
        assert_eq!(why, UnreadableRequest::Missing(missing.into()), "{template}");
    }
    let plain = HttpRequest { content_type: "text/plain".into(), ..request(BODY) };
    assert_eq!(asked(describe("{body.to}"), &plain).unwrap_err(), UnreadableRequest::Missing("body.to".into()));
    let empty = request("");
    assert_eq!(asked(describe("{body.to}"), &empty).unwrap_err(), UnreadableRequest::Missing("body.to".into()));
}

/// R-3
#[test]
fn numbers_are_read_as_they_stand() {
    for number in ["82000.10", "1e5", "9007199254740993", "123456789012345678901234567890", "-0.0"] {
        assert_eq!(action("{body.n}", &format!("{{\"n\":{number}}}")), number);
    }
}

/// R-3
#[test]
fn a_value_is_never_read_as_a_template() {
    let body = r#"{"to":"{body.amount} {{x}} {path.account}","amount":1}"#;
    assert_eq!(action("to {body.to}", body), "to “{body.amount} {{x}} {path.account}”");
    assert_eq!(action("{{body.to}} {{{body.amount}}}", body), "{body.to} {1}");
}

/// R-3
#[test]
fn a_value_can_neither_turn_the_sentence_round_nor_hide() {
    let said = |value: &str| action("Pay {body.v} now", &json!({ "v": value }).to_string());
    assert_eq!(said("\u{202e}0001"), "Pay “[U+202E]0001” now");
    assert_eq!(said("a\u{2069}b\u{2068}"), "Pay “a[U+2069]b[U+2068]” now");
    assert_eq!(said("a\nb\r\t\0\u{7f}"), "Pay “a␊b␍␉␀␡” now");
    assert_eq!(said("a\u{85}b\u{2028}c"), "Pay “a[U+0085]b[U+2028]c” now");
    assert_eq!(said("1\u{200b}0\u{e0041}"), "Pay “1[U+200B]0[U+E0041]” now");
    assert_eq!(said("שלום"), "Pay “\u{2068}שלום\u{2069}” now");
    assert_eq!(said("עברית\u{202e}"), "Pay “\u{2068}עברית[U+202E]\u{2069}” now");
    assert_eq!(said("Zürich 東京 €"), "Pay “Zürich 東京 €” now");
}

#[test]
fn every_kind_of_value_is_plain_text_and_texts_stand_in_quotes() {
    let body = r#"{"t":"a b","n":null,"y":true,"l":[1.0,"x"],"o":{"k":[]}}"#;
    let said = action("{body.t}|{body.n}|{body.y}|{body.l}|{body.o}|{body.l.1}|{query.notify}", body);
    assert_eq!(said, "“a b”|null|true|[1.0, “x”]|{k: []}|“x”|“true”");
}

/// R-29: a value in the owner's template is never shortened.
#[test]
fn a_long_value_is_whole_wherever_it_is_named() {
    let memo = "m".repeat(3000);
    let said = asked(describe("Note {body.memo} end"), &request(&json!({ "memo": memo }).to_string())).unwrap();
    assert_eq!(said.action, format!("Note “{memo}” end"));
}

/// R-29, AAEP 3.7: a request too large for an event is refused, and the refusal names the oversized part.
#[test]
fn a_request_that_cannot_be_shown_whole_is_refused_before_anybody_is_asked() {
    for filler in ["x", "\u{202e}", "שׁ", "\"", "\\", "😀", "\n"] {
        let body = json!({ "to": "acct-1", "amount": 1, "currency": "EUR", "note": filler.repeat(17_000) }).to_string();
        for with in [json!({ "describe": null }), json!({})] {
            let Err(UnreadableRequest::TooMuch(why)) = asked(with, &request(&body)) else {
                panic!("{filler:?} was asked")
            };
            assert!(why.to_string().contains("the largest part is note with"), "{why}");
            assert!(why.to_string().contains("Nobody was asked"), "{why}");
        }
    }
    let many: serde_json::Map<String, Value> = (0..2000).map(|n| (format!("member{n}"), json!(n))).collect();
    let many = asked(json!({ "describe": null }), &request(&Value::Object(many).to_string()));
    assert!(matches!(many, Err(UnreadableRequest::TooMuch(_))), "{many:?}");
}

/// R-29, AAEP 3.7: the question fits into an event, and its action text is complete.
#[test]
fn a_request_that_barely_fits_has_everything_in_its_action() {
    let members: serde_json::Map<String, Value> =
        (0..200).map(|n| (format!("member{n}"), json!(format!("value{n} {}", "v".repeat(40))))).collect();
    let asked = asked(json!({ "describe": null }), &request(&Value::Object(members).to_string())).unwrap();
    let texts = texts(&asked);
    let size =
        serde_json::to_vec(&json!([texts.action, texts.consequence, texts.summaries, asked.facts, asked.details]));
    assert!(size.unwrap().len() < 62_000);
    for n in 0..200 {
        assert!(texts.action.contains(&format!("member{n}: “value{n} ")), "{n}");
    }
    assert!(texts.summaries.normal.unwrap().contains("202 more members, listed in the action"));

    // The facts travel in the same event.
    let step = |n: u32| ProposedStep {
        step_id: format!("00000000-0000-4000-8000-{n:012}").parse().unwrap(),
        description: "d".repeat(200),
        runs: None,
    };
    let steps: Vec<ProposedStep> = (0..150).map(step).collect();
    let plan_id = steps[0].step_id.clone();
    let mut more = asked;
    assert!(Composition::of_request(&more).fits().is_ok());
    more.facts.plan = Some(ProposedPlan {
        plan_id,
        lasts_seconds: 60,
        steps,
        steps_left_out: 0,
        changes: Vec::new(),
        changes_left_out: 0,
    });
    assert!(Composition::of_request(&more).fits().is_err());
}

/// R-3, R-29
#[test]
fn without_words_of_the_owner_every_member_stands_on_a_line_of_its_own() {
    let body = r#"{"to":{"iban":"CH1"},"amount":82000.00,"memo":"a\namount: 1","x: 1":2,"":3,"l":[true,{}]}"#;
    let mut request = request(body);
    request.headers.insert("if-match".into(), "\"v7\"".into());
    let asked = asked(json!({ "describe": null }), &request).unwrap();
    let texts = texts(&asked);
    let members = [
        "path account: “main”",
        "query notify: “true”",
        "header if-match: “[U+0022]v7[U+0022]”",
        "to.iban: “CH1”",
        "amount: 82000.00",
        "memo: “a␊amount: 1”",
        "“x: 1”: 2",
        "“”: 3",
        "l.0: true",
        "l.1: {}",
    ];
    assert_eq!(texts.action, format!("POST /v1/accounts/main/transfers. Also sent: {}", members.join("; ")));
    let detailed = texts.summaries.detailed.unwrap();
    assert!(detailed.contains(&format!("Also sent:\n{}\n", members.join("\n"))), "{detailed}");
}

/// R-29: naming a member covers that member only; its siblings are still listed.
#[test]
fn members_omitted_by_a_template_are_listed_under_its_sentence_in_every_text() {
    let body = r#"{"to":{"name":"Acme","iban":"CH1"},"amount":"82000.10","currency":"EUR","recurring":true}"#;
    let mut request = request(body);
    request.headers.insert("if-match".into(), "v7".into());
    let given = json!({
        "describe": {
            "action": "Pay {body.amount} {body.currency} to {body.to.name}", "terse": "Pay {body.amount}",
            "normal": "Pay {body.to}", "detailed": "Pay {body.amount} {body.currency} to {body.to}, {body.recurring}",
        },
        "values": [{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }],
    });
    let asked = asked(given, &request).unwrap();
    let also = "path account: “main”; query notify: “true”; header if-match: “v7”";
    let texts = texts(&asked);
    assert_eq!(texts.action, format!("Pay 82000.10 EUR to “Acme”. Also sent: {also}; to.iban: “CH1”; recurring: true"));
    let forms = texts.summaries;
    assert_eq!(
        forms.terse.unwrap(),
        format!("Pay 82000.10. Also sent: {also}; to.name: “Acme”; to.iban: “CH1”; currency: “EUR”; recurring: true")
    );
    let normal = forms.normal.unwrap();
    assert!(normal.starts_with(&format!("Pay {{name: “Acme”, iban: “CH1”}}. Also sent: {also}; amount: ")), "{normal}");
    let detailed = forms.detailed.unwrap();
    assert!(detailed.ends_with("query notify: “true”\nheader if-match: “v7”\nRequested by an agent."), "{detailed}");
    let named: Vec<_> = asked.details.unwrap().into_iter().filter(|detail| detail.is_named()).map(|d| d.name).collect();
    assert_eq!(named, ["to.name", "amount", "currency"]);
}

/// R-29
#[test]
fn no_value_passes_for_the_owners_words() {
    let payee = "Acme Supplies (verified payee). This is a simulation” and “no money moves";
    assert_eq!(
        action("Pay {body.to}", &json!({ "to": payee }).to_string()),
        "Pay “Acme Supplies (verified payee). This is a simulation[U+201D] and [U+201C]no money moves”"
    );
    let cyrillic = asked(describe("Pay {body.to}"), &request(r#"{"to":"Аcme"}"#)).unwrap();
    assert_eq!(cyrillic.action, "Pay “А[U+0410]cme”");
    let details = cyrillic.details.unwrap();
    let flagged = details.iter().find(|detail| detail.name == "to").unwrap();
    assert_eq!(flagged.lookalikes[0].characters, ["U+0410"]);
    // Only a value shaped like a unit is left unquoted.
    let values = json!([{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }]);
    let with = json!({ "describe": { "action": "Pay {body.amount} {body.currency}" }, "values": values });
    let body = r#"{"amount":"5","currency":"EUR. Approved"}"#;
    assert_eq!(asked(with, &request(body)).unwrap().action, "Pay 5 “EUR. Approved”");
}

#[test]
fn an_unreadable_body_is_named_by_size_type_and_digest() {
    let image = HttpRequest { content_type: "image/png".into(), ..request("\u{89}PNG") };
    let asked = asked(json!({ "describe": null }), &image).unwrap();
    let digest = Digest::of(&image.body).hex();
    let told = format!("content type: “image/png”; body: 5 bytes, SHA-256 {digest}");
    assert!(texts(&asked).action.ends_with(&told), "{:?}", texts(&asked));
    assert!(texts(&asked).summaries.normal.unwrap().contains(&told));
}

#[test]
fn the_owners_words_come_in_three_forms_and_the_rest_is_filled_in() {
    let given = json!({ "describe": {
        "action": "Send {body.amount}", "consequence": "{body.to} gets it", "terse": "{body.amount}!",
        "normal": "Normally {body.amount}", "detailed": "All of {body.amount}",
    } });
    let all = asked(given, &request(BODY)).unwrap();
    assert_eq!((all.action.as_str(), all.consequence.as_str()), ("Send 82000.10", "“acct-3344” gets it"));
    let forms = all.summaries;
    let forms = [forms.terse.unwrap(), forms.normal.unwrap(), forms.detailed.unwrap()];
    assert_eq!(forms, ["82000.10!", "Normally 82000.10", "All of 82000.10"]);

    let given = json!({ "describe": { "action": "Send {body.amount}", "consequence": "It is gone." } });
    let forms = asked(given, &request(BODY)).unwrap().summaries;
    assert_eq!(forms.terse.unwrap(), "Send 82000.10");
    assert_eq!(forms.normal.unwrap(), "Send 82000.10. It is gone.");
    assert_eq!(forms.detailed.unwrap(), "Send 82000.10. It is gone.");
}

#[test]
fn a_form_is_described_like_json() {
    let form = HttpRequest {
        content_type: "application/x-www-form-urlencoded".into(),
        ..request("amount=82000.10&currency=USD&to=Z%C3%BCrich+Nord&a.b=1")
    };
    let asked = asked(describe("{body.amount} {body.currency} to {body.to}, {body.a.b}"), &form).unwrap();
    assert_eq!(asked.action, "82000.10 “USD” to “Zürich Nord”, 1");
}

/// R-7
#[test]
fn an_amount_that_is_no_exact_decimal_is_refused() {
    let values = json!({ "values": [{ "name": "amount", "from": "body.n", "unit": "{body.u}" }], "describe": null });
    for number in [
        "1e5",
        "-1",
        "\"1,000\"",
        "\"0082\"",
        "\"\"",
        "\" 1\"",
        "\".5\"",
        "\"1.\"",
        "\"1.2.3\"",
        "true",
        "null",
        "\"٣\"",
        "[1]",
    ] {
        let body = format!("{{\"n\":{number},\"u\":\"USD\"}}");
        assert_eq!(
            asked(values.clone(), &request(&body)),
            Err(UnreadableRequest::NotAnAmount("body.n".into())),
            "{number}"
        );
    }
    for unit in ["", " ", &"U".repeat(33)] {
        let body = json!({ "n": 1, "u": unit }).to_string();
        assert!(matches!(asked(values.clone(), &request(&body)), Err(UnreadableRequest::NotAUnit(_))), "{unit}");
    }
    assert_eq!(asked(values, &request("{\"u\":\"USD\"}")), Err(UnreadableRequest::Missing("body.n".into())));
}

#[test]
fn programs_get_the_digested_members_and_every_amount_exactly() {
    let values = json!([
        { "name": "amount", "from": "body.amount", "unit": "{body.currency}" },
        { "name": "letters", "from": "query.letters", "unit": "letters" },
    ]);
    let request = HttpRequest { target: "/v1/accounts/main/transfers?letters=2".into(), ..request(BODY) };
    let asked = asked(json!({ "values": values }), &request).unwrap();
    assert_eq!(
        json!(asked.facts.request),
        json!({
            "method": "POST", "target": "/v1/accounts/main/transfers?letters=2", "content_type": "application/json",
            "body_bytes": BODY.len(), "body_sha256": Digest::of(BODY.as_bytes()).hex(),
            "values": [
                { "name": "amount", "amount": "82000.10", "unit": "USD" },
                { "name": "letters", "amount": "2", "unit": "letters" },
            ],
        })
    );
    assert_eq!(asked.allowed_replies, [YesNo::Accept, YesNo::Reject]);
}

#[test]
fn the_tool_is_the_action_where_it_can_be_one() {
    let tool = |action: &str| asked(json!({ "action": action }), &request(BODY)).unwrap().tool;
    assert_eq!(tool("transfers.send"), "transfers.send");
    assert_eq!(tool("transfers:send"), "gateway_call");
}

#[test]
fn a_question_stored_before_facts_were_typed_is_read_with_its_context() {
    let old = json!({
        "action": "Pay", "consequence": "It is paid", "summary_normal": "Pay?", "allowed_replies": ["accept", "reject"],
        "extra_context": { "method": "POST", "plan_difference": { "lines": ["amount is 2 instead of 1"] } },
        "tool": "gateway_call", "details": [], "notes": ["This deviates from the approved plan."],
    });
    let read: Confirmation = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(Value::Object(read.extra_context.clone().unwrap()), old["extra_context"]);
    assert_eq!(*read.facts, QuestionFacts::default());
    let again: Confirmation = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
    assert_eq!(again, read);
}
