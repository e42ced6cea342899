//! Malformed JWTs are refused before any key lookup.

use super::support::{IAT, KEYS, NOW, OPERATOR, SERVICE, b64, expected, operator_claims, raw, signed};
use countersign_jose::{MAX_TOKEN_BYTES, Malformed, OperatorRefusal, Unsigned, peek, verify_operator};
use serde_json::json;

const HEADER: &str = r#"{"alg":"ES256","kid":"op-1","typ":"JWT"}"#;

fn payload() -> String {
    operator_claims().to_string()
}

/// `peek` and `verify_operator` must report the same defect.
fn malformed(jwt: &str) -> Malformed {
    let seen = peek(jwt).unwrap_err();
    let refused = verify_operator(jwt, &KEYS, expected(), NOW).unwrap_err();
    assert_eq!(refused, OperatorRefusal::Unsigned(Unsigned::Malformed(seen.clone())));
    seen
}

#[test]
fn a_token_has_three_parts() {
    let good = signed(&operator_claims());
    let two = good.rsplit_once('.').unwrap().0;
    for jwt in ["", "a", two, &format!("{good}."), &format!("{good}.AAAA"), &format!("{good}.AA.AA.AA")] {
        assert_eq!(malformed(jwt), Malformed::NotThreeParts, "{jwt}");
    }
}

#[test]
fn an_oversized_token_is_not_even_read() {
    assert_eq!(malformed(&"x".repeat(MAX_TOKEN_BYTES + 1)), Malformed::TooLong);
    let padded = json!({ "iss": OPERATOR, "padding": "x".repeat(MAX_TOKEN_BYTES) }).to_string();
    assert_eq!(malformed(&raw(HEADER, &padded)), Malformed::TooLong);
}

#[test]
fn a_token_has_exactly_one_spelling() {
    let good = signed(&operator_claims());
    let (signed_part, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed_part.split_once('.').unwrap();
    // The last character of 64 encoded bytes has four spare bits, which must be zero: A, Q, g or w.
    let last = signature.chars().last().unwrap();
    let spare = char::from(last as u8 + 1);
    let trailing_bits = format!("{signed_part}.{}{spare}", &signature[..signature.len() - 1]);
    let spellings = [
        trailing_bits,
        format!("{good}=="),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{header}=.{payload}.{signature}"),
        format!("{header}.{payload} .{signature}"),
        format!("{header}.{payload}.{}+", &signature[..signature.len() - 1]),
    ];
    for jwt in spellings {
        assert!(matches!(malformed(&jwt), Malformed::Base64(_)), "{jwt}");
    }
}

#[test]
fn header_and_payload_are_objects_in_which_nothing_stands_twice() {
    let twice = [
        (r#"{"alg":"ES256","kid":"op-1","kid":"op-2"}"#.to_owned(), payload()),
        (r#"{"alg":"none","alg":"ES256","kid":"op-1"}"#.to_owned(), payload()),
        (HEADER.to_owned(), payload().replacen('{', &format!(r#"{{"aud":"{SERVICE}","#), 1)),
        (HEADER.to_owned(), payload().replacen('{', &format!(r#"{{"iss":"evil.example","exp":{IAT},"#), 1)),
    ];
    for (header, payload) in twice {
        assert!(matches!(malformed(&raw(&header, &payload)), Malformed::Json(_)), "{header} {payload}");
    }
    for odd in ["[]", "null", "7", "\"text\"", "{", "", "{}{}", "\u{feff}{}"] {
        assert_eq!(malformed(&raw(HEADER, odd)), Malformed::Json("payload"), "{odd}");
        assert_eq!(malformed(&raw(odd, &payload())), Malformed::Json("header"), "{odd}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let jwt = format!("{}.{}.AAAA", b64(HEADER), b64([0xff, 0xfe]));
    assert_eq!(malformed(&jwt), Malformed::Json("payload"));
}

/// AAP-20.1-02
#[test]
fn a_header_without_a_kid_is_refused_though_the_payload_has_one() {
    for header in [r#"{"alg":"ES256"}"#, r#"{"alg":"ES256","kid":""}"#, r#"{"alg":"ES256","kid":1}"#] {
        assert_eq!(malformed(&raw(header, &payload())), Malformed::NoKid, "{header}");
    }
}

#[test]
fn a_header_may_not_bring_its_own_key_or_demand_extensions() {
    for member in ["crit", "b64", "jwk", "jku", "x5u", "x5c"] {
        let header = json!({ "alg": "ES256", "kid": "op-1", member: "x" }).to_string();
        assert_eq!(malformed(&raw(&header, &payload())), Malformed::RefusedHeader(member));
    }
}

#[test]
fn odd_headers_and_a_missing_issuer_are_refused() {
    assert_eq!(malformed(&raw(r#"{"kid":"op-1"}"#, &payload())), Malformed::Algorithm);
    assert_eq!(malformed(&raw(r#"{"alg":["ES256"],"kid":"op-1"}"#, &payload())), Malformed::Algorithm);
    assert_eq!(malformed(&raw(r#"{"alg":"ES256","kid":"op-1","typ":1}"#, &payload())), Malformed::Typ);
    assert_eq!(peek(&raw(HEADER, "{}")).unwrap_err(), Malformed::NoIssuer);
}

#[test]
fn a_peek_yields_the_members_that_find_the_key() {
    let seen = peek(&signed(&operator_claims())).unwrap();
    assert_eq!((seen.kid.as_str(), seen.typ.as_deref(), seen.iss.as_str()), ("op-1", Some("JWT"), OPERATOR));
}
