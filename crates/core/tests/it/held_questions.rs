//! What a person reads about a held request.

use crate::held::{BODY, request, route};
use countersign_core::{
    held::{Fields, HttpRequest, Unreadable, question},
    records::Confirmation,
};
use countersign_protocol::{aaep::event::YesNo, hash::Digest};
use serde_json::{Value, json};

fn asked(with: Value, request: &HttpRequest) -> Result<Confirmation, Unreadable> {
    let route = route(with);
    question(&route, request, &Fields::read(&route, request)?)
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
        assert_eq!(why, Unreadable::Missing(missing.into()), "{template}");
    }
    let plain = HttpRequest { content_type: "text/plain".into(), ..request(BODY) };
    assert_eq!(asked(describe("{body.to}"), &plain).unwrap_err(), Unreadable::Missing("body.to".into()));
    let empty = request("");
    assert_eq!(asked(describe("{body.to}"), &empty).unwrap_err(), Unreadable::Missing("body.to".into()));
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
    assert_eq!(action("to {body.to}", body), "to {body.amount} {{x}} {path.account}");
    assert_eq!(action("{{body.to}} {{{body.amount}}}", body), "{body.to} {1}");
}

/// R-3
#[test]
fn a_value_can_neither_turn_the_sentence_round_nor_hide() {
    let said = |value: &str| action("Pay {body.v} now", &json!({ "v": value }).to_string());
    assert_eq!(said("\u{202e}0001"), "Pay [U+202E]0001 now");
    assert_eq!(said("a\u{2069}b\u{2068}"), "Pay a[U+2069]b[U+2068] now");
    assert_eq!(said("a\nb\r\t\0\u{7f}"), "Pay a␊b␍␉␀␡ now");
    assert_eq!(said("a\u{85}b\u{2028}c"), "Pay a[U+0085]b[U+2028]c now");
    assert_eq!(said("1\u{200b}0\u{e0041}"), "Pay 1[U+200B]0[U+E0041] now");
    assert_eq!(said("שלום"), "Pay \u{2068}שלום\u{2069} now");
    assert_eq!(said("עברית\u{202e}"), "Pay \u{2068}עברית[U+202E]\u{2069} now");
    assert_eq!(said("Zürich 東京 €"), "Pay Zürich 東京 € now");
}

#[test]
fn every_kind_of_value_is_plain_text() {
    let body = r#"{"t":"a b","n":null,"y":true,"l":[1.0,"x"],"o":{"k":[]}}"#;
    let said = action("{body.t}|{body.n}|{body.y}|{body.l}|{body.o}|{body.l.1}|{query.notify}", body);
    assert_eq!(said, r#"a b|null|true|[1.0,"x"]|{"k":[]}|x|true"#);
}

#[test]
fn a_long_value_is_shortened_with_an_honest_note_and_is_whole_in_detail() {
    let memo = "m".repeat(3000);
    let said = asked(describe("Note {body.memo} end"), &request(&json!({ "memo": memo }).to_string())).unwrap();
    let (begin, rest) = said.action.split_once("… ").unwrap();
    let left: usize = rest.strip_suffix(" more characters end").unwrap().parse().unwrap();
    assert_eq!(begin.len() - "Note ".len() + left, 3000);
    assert!(said.summaries.terse.unwrap().chars().count() < said.action.chars().count());
    assert!(said.summaries.detailed.unwrap().contains(&memo));
}

/// AAEP 3.7: whatever is sent, the question still fits into an event.
#[test]
fn no_request_makes_a_question_too_big_to_be_asked() {
    for filler in ["x", "\u{202e}", "שׁ", "\"", "\\", "😀", "\n"] {
        let members: serde_json::Map<String, Value> =
            (0..200).map(|n| (format!("{filler}{n}"), json!(filler.repeat(2000 / filler.len())))).collect();
        let body = Value::Object(members).to_string();
        let query = format!("{}=1", "q".repeat(40_000));
        let request = HttpRequest { target: format!("/v1/accounts/main/transfers?{query}"), ..request(&body) };
        let owners = json!({ "describe": {
            "action": "{query.X}{body.Y}".replace('X', &"q".repeat(40_000)).replace('Y', &format!("{filler}1")).repeat(30),
            "consequence": "c".repeat(20_000), "normal": "n".repeat(20_000), "terse": "t".repeat(20_000),
        } });
        for with in [json!({ "describe": null }), owners] {
            let asked = asked(with, &request).unwrap();
            let size = serde_json::to_vec(&json!([
                asked.action,
                asked.consequence,
                asked.summaries.terse,
                asked.summaries.normal,
                asked.summaries.detailed,
                asked.extra_context,
            ]));
            assert!(size.unwrap().len() < 60_000, "{filler:?}");
            assert!((1..=4096).contains(&asked.summaries.terse.unwrap().chars().count()));
            for text in [asked.action, asked.summaries.normal.unwrap(), asked.summaries.detailed.unwrap()] {
                assert!((1..=16_384).contains(&text.chars().count()) && text.contains(" more characters"));
                assert_eq!(text.matches('\u{2068}').count(), text.matches('\u{2069}').count());
            }
        }
    }
}

/// R-3
#[test]
fn without_words_of_the_owner_every_member_stands_on_a_line_of_its_own() {
    let body = r#"{"to":{"iban":"CH1"},"amount":82000.00,"memo":"a\namount: 1","x: 1":2,"":3}"#;
    let mut request = request(body);
    request.headers.insert("if-match".into(), "\"v7\"".into());
    let asked = asked(json!({ "describe": null }), &request).unwrap();
    assert_eq!(asked.action, "POST /v1/accounts/main/transfers?notify=true");
    assert_eq!(asked.summaries.terse.unwrap(), "POST /v1/accounts/main/transfers");
    let lines = "POST /v1/accounts/main/transfers?notify=true\npath account: main\nquery notify: true\n\
                 header if-match: \"v7\"\nto: {\"iban\":\"CH1\"}\namount: 82000.00\nmemo: a␊amount: 1\n\"x: 1\": 2\n\"\": 3";
    assert_eq!(asked.summaries.detailed.unwrap(), lines);
}

#[test]
fn what_cannot_be_read_is_named_by_size_type_and_digest() {
    let image = HttpRequest { content_type: "image/png".into(), ..request("\u{89}PNG") };
    let asked = asked(json!({ "describe": null }), &image).unwrap();
    let digest = Digest::of(&image.body).hex();
    assert!(asked.summaries.detailed.unwrap().ends_with(&format!("\n5 bytes of image/png, SHA-256 {digest}")));
    assert!(asked.summaries.normal.unwrap().ends_with(&format!(", with 5 bytes of image/png, SHA-256 {digest}")));
}

#[test]
fn the_owners_words_come_in_three_forms_and_the_rest_is_filled_in() {
    let given = json!({ "describe": {
        "action": "Send {body.amount}", "consequence": "{body.to} gets it", "terse": "{body.amount}!",
        "normal": "Normally {body.amount}", "detailed": "All of {body.amount}",
    } });
    let all = asked(given, &request(BODY)).unwrap();
    assert_eq!((all.action.as_str(), all.consequence.as_str()), ("Send 82000.10", "acct-3344 gets it"));
    let forms = all.summaries;
    let forms = [forms.terse.unwrap(), forms.normal.unwrap(), forms.detailed.unwrap()];
    assert_eq!(forms, ["82000.10!", "Normally 82000.10", "All of 82000.10"]);

    let given = json!({ "describe": { "action": "Send {body.amount}", "consequence": "It is gone." } });
    let forms = asked(given, &request(BODY)).unwrap().summaries;
    assert_eq!(forms.terse.unwrap(), "Send 82000.10");
    assert_eq!(forms.normal.unwrap(), "Send 82000.10 It is gone.");
    let detailed = forms.detailed.unwrap();
    assert!(detailed.starts_with("Send 82000.10 It is gone.\n") && detailed.contains("\nto: acct-3344\n"));
}

#[test]
fn a_form_is_described_like_json() {
    let form = HttpRequest {
        content_type: "application/x-www-form-urlencoded".into(),
        ..request("amount=82000.10&currency=USD&to=Z%C3%BCrich+Nord&a.b=1")
    };
    let asked = asked(describe("{body.amount} {body.currency} to {body.to}, {body.a.b}"), &form).unwrap();
    assert_eq!(asked.action, "82000.10 USD to Zürich Nord, 1");
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
        assert_eq!(asked(values.clone(), &request(&body)), Err(Unreadable::NotAnAmount("body.n".into())), "{number}");
    }
    for unit in ["", " ", &"U".repeat(33)] {
        let body = json!({ "n": 1, "u": unit }).to_string();
        assert!(matches!(asked(values.clone(), &request(&body)), Err(Unreadable::NotAUnit(_))), "{unit}");
    }
    assert_eq!(asked(values, &request("{\"u\":\"USD\"}")), Err(Unreadable::Missing("body.n".into())));
}

#[test]
fn programs_are_told_what_was_digested_and_every_amount_exactly() {
    let values = json!([
        { "name": "amount", "from": "body.amount", "unit": "{body.currency}" },
        { "name": "letters", "from": "query.letters", "unit": "letters" },
    ]);
    let request = HttpRequest { target: "/v1/accounts/main/transfers?letters=2".into(), ..request(BODY) };
    let asked = asked(json!({ "values": values }), &request).unwrap();
    assert_eq!(
        Value::Object(asked.extra_context.unwrap()),
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
