//! Effect keys, which deduplicate executions across requests, and the digest covered by an approval.

use crate::held::{BODY, bank, request, route};
use countersign_core::held::{BadTemplate, Effect, Fields, HttpRequest, UnreadableRequest, effect, question, resource};
use countersign_protocol::{action::Action, hash::Digest, project::Route};
use proptest::prelude::*;
use serde_json::json;

fn effect_of(template: &str, body: &str) -> Result<Option<Effect>, UnreadableRequest> {
    let route = route(json!({ "effect": template }));
    effect(&route, &Fields::read(&route, &request(body))?)
}

fn key(template: &str, body: &str) -> String {
    effect_of(template, body).unwrap().unwrap().key
}

/// R-6
#[test]
fn a_value_with_several_spellings_names_no_effect() {
    for value in
        ["\"\"", "null", "true", "[1]", "{}", "1.0", "1e2", "-1", "\" 1\"", "\"1 \"", "\"1\\n\"", "\"\\u0000\""]
    {
        let why = effect_of("refund:{body.id}", &format!("{{\"id\":{value}}}")).unwrap_err();
        assert_eq!(why, UnreadableRequest::NotAKey("body.id".into()), "{value}");
    }
    assert_eq!(effect_of("refund:{body.id}", "{}").unwrap_err(), UnreadableRequest::Missing("body.id".into()));
    let long = json!({ "id": "x".repeat(513) }).to_string();
    assert_eq!(effect_of("refund:{body.id}", &long).unwrap_err(), UnreadableRequest::KeyTooLong);
}

#[test]
fn a_template_that_would_mix_values_up_is_refused() {
    for (template, why) in [
        ("{body.a}{body.b}", BadTemplate::Joined),
        ("{body.a}-{body.b}", BadTemplate::Joined),
        ("{body.a}:{body.b}.{body.c}", BadTemplate::Joined),
        ("refund", BadTemplate::NotAKey),
        ("", BadTemplate::NotAKey),
        ("refund {body.a}", BadTemplate::NotAKey),
        ("50%:{body.a}", BadTemplate::NotAKey),
        ("ü:{body.a}", BadTemplate::NotAKey),
    ] {
        let body = r#"{"a":"1","b":"2","c":"3"}"#;
        assert_eq!(effect_of(template, body).unwrap_err(), UnreadableRequest::Template(why), "{template}");
    }
}

/// R-6
#[test]
fn one_value_cannot_reach_into_the_next() {
    let two = |a: &str, b: &str| key("e:{body.a}:{body.b}", &json!({ "a": a, "b": b }).to_string());
    assert_eq!(two("a:b", "c"), "e:a%3Ab:c");
    assert_eq!(two("a", "b:c"), "e:a:b%3Ac");
    assert_eq!(two("a%3Ab", "c"), "e:a%253Ab:c");
    assert_eq!(key("refund:{body.id}", r#"{"id":"ü/1"}"#), "refund:%C3%BC%2F1");
}

/// R-6
#[test]
fn the_same_effect_is_the_same_in_every_carrier() {
    let as_text = effect_of("refund:{body.id}", r#"{"id":"81","note":"again"}"#).unwrap().unwrap();
    let as_number = effect_of("refund:{body.id}", r#"{"note":"first","id":81}"#).unwrap().unwrap();
    assert_eq!(as_text, as_number);
    assert_eq!(as_text.digest, Digest::of(b"countersign:effect:1\0refund:81"));
    assert_eq!(effect(&Route::default(), &crate::held::read(&request(BODY)).unwrap()), Ok(None));
}

#[test]
fn a_resource_is_named_like_an_effect() {
    let route = route(json!({ "resource": "account:{path.account}" }));
    let of = |account: &str| {
        let request = HttpRequest { target: format!("/v1/accounts/{account}/transfers"), ..request(BODY) };
        resource(&route, &Fields::read(&route, &request).unwrap()).unwrap().unwrap()
    };
    assert_eq!(of("main"), "account:main");
    assert_eq!(of("main%3Aother"), "account:main%3Aother");
}

/// Different bytes for the same members: spaces, order, escapes, other members.
fn respelled() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec!["", " ", "\n", "\t "]);
    let amount = prop::sample::select(vec!["82000.10", "820000.10"]);
    let to = prop::sample::select(vec!["acct-3344", "acct\\u002d3344"]);
    let more = prop::sample::select(vec!["", ",\"memo\":\"x\"", ",\"memo\":\"y\""]);
    (space, amount, to, more, any::<bool>()).prop_map(|(s, amount, to, more, turned)| {
        let (first, second) = (format!("\"to\":{s}\"{to}\""), format!("{s}\"amount\":{amount}"));
        let (first, second) = if turned { (second, first) } else { (first, second) };
        format!("{{{first},{second}{s},\"currency\":\"USD\"{more}}}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// R-3: two requests may read the same to people; their approved digests differ.
    #[test]
    fn two_requests_that_read_alike_and_differ_in_bytes_never_share_a_digest(
        left in respelled(), right in respelled(), types in prop::array::uniform2(prop::sample::select(vec![
            "application/json", "application/json; charset=utf-8",
        ])),
    ) {
        let route = route(json!({}));
        let [left, right] = [(left, types[0]), (right, types[1])]
            .map(|(body, content_type)| HttpRequest { content_type: content_type.into(), ..request(&body) });
        let read = |request: &HttpRequest| question(&route, request, &Fields::read(&route, request).unwrap()).unwrap().action;
        let digest = |request: &HttpRequest| {
            Action::Http(request.action(&bank(), "del_7f3c0a91e2b84d5566778899aabbccdd", &route)).digest().unwrap()
        };
        prop_assert_eq!(left == right, digest(&left) == digest(&right));
        if read(&left) != read(&right) {
            prop_assert_ne!(digest(&left), digest(&right));
        }
    }

    /// R-6
    #[test]
    fn effects_of_different_values_never_collide(
        left in prop::array::uniform3("[ab:%/ü ]{1,4}"), right in prop::array::uniform3("[ab:%/ü ]{1,4}"),
        template in prop::sample::select(vec![
            "e:{body.a}:{body.b}:{body.c}", "{body.a}/{body.b}a:b{body.c}", "x{body.a}b:{body.b}:b{body.c}x",
        ]),
    ) {
        let of = |[a, b, c]: &[String; 3]| effect_of(template, &json!({ "a": a, "b": b, "c": c }).to_string());
        if let (Ok(Some(one)), Ok(Some(other))) = (of(&left), of(&right)) {
            prop_assert_eq!(left == right, one.key == other.key, "{} {}", one.key, other.key);
            prop_assert_eq!(one.key == other.key, one.digest == other.digest);
        }
    }
}
