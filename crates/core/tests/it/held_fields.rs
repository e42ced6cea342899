//! Ambiguous requests are refused before a person is asked.

use crate::held::{BODY, bank, read, request, route};
use countersign_core::held::{BadJson, BadPairs, Fields, HttpRequest, UnreadableRequest};
use countersign_protocol::action::Action;
use serde_json::json;

fn refused(request: &HttpRequest) -> UnreadableRequest {
    read(request).unwrap_err()
}

/// R-3
#[test]
fn a_body_with_two_readings_is_refused() {
    let twice = BadJson::Twice("amount".into());
    assert_eq!(refused(&request(r#"{"amount":82000,"amount":820000}"#)), UnreadableRequest::Json(twice));
    let alike = BadJson::Alike("amount".into(), "AMOUNT".into());
    assert_eq!(refused(&request(r#"{"amount":82000,"AMOUNT":820000}"#)), UnreadableRequest::Json(alike));
    let trailing = BadJson::Trailing(BODY.len());
    assert_eq!(refused(&request(&format!("{BODY}{BODY}"))), UnreadableRequest::Json(trailing));
    assert_eq!(refused(&request(&format!("\u{feff}{BODY}"))), UnreadableRequest::Json(BadJson::Marked));
    let latin = HttpRequest { body: b"{\"to\":\"Z\xfcrich\"}".to_vec(), ..request("") };
    assert_eq!(refused(&latin), UnreadableRequest::Json(BadJson::NotUtf8));
}

/// R-3
#[test]
fn an_encoded_or_oversized_body_is_refused() {
    for encoding in ["gzip", "br", "gzip, identity", "IDENTITY", "identity, identity"] {
        let request = HttpRequest { content_encoding: encoding.into(), ..request(BODY) };
        assert_eq!(refused(&request), UnreadableRequest::Encoded, "{encoding}");
    }
    let narrow = route(json!({ "max_body_bytes": 8 }));
    assert_eq!(Fields::read(&narrow, &request("\"1234567\"")), Err(UnreadableRequest::TooBig { most: 8 }));
    assert!(Fields::read(&narrow, &request("\"123456\"")).is_ok());
    let usual = format!("\"{}\"", "x".repeat(1 << 20));
    assert_eq!(refused(&request(&usual)), UnreadableRequest::TooBig { most: 1 << 20 });
}

/// R-3
#[test]
fn a_content_type_that_could_mean_something_else_is_refused() {
    let of = |content_type: &str| HttpRequest { content_type: content_type.into(), ..request(BODY) };
    for charset in ["application/json; charset=utf-16", "application/vnd.bank+json;charset=latin1"] {
        assert_eq!(refused(&of(charset)), UnreadableRequest::Charset, "{charset}");
    }
    for odd in [
        "json",
        "application/json, text/plain",
        "application/json;",
        "application/json; charset",
        "a b/json",
        "application/json; charset=utf-8; charset=utf-8",
        "application/json; a=\"b\\\"c\"",
        "/json",
        "text/",
    ] {
        assert_eq!(refused(&of(odd)), UnreadableRequest::ContentType, "{odd}");
    }
    for sound in ["application/json", "Application/JSON; charset=UTF-8", "application/ld+json; profile=\"x\""] {
        assert!(read(&of(sound)).is_ok(), "{sound}");
    }
}

/// R-3
#[test]
fn a_query_with_two_readings_is_refused() {
    let of = |query: &str| HttpRequest { target: format!("/v1/accounts/main/transfers?{query}"), ..request(BODY) };
    for (query, why) in [
        ("a=1&a=2", BadPairs::Twice("a".into())),
        ("a=1&%61=2", BadPairs::Twice("a".into())),
        ("a=1&A=2", BadPairs::Twice("A".into())),
        ("a=1&b=2&a", BadPairs::Twice("a".into())),
        ("a=1;b=2", BadPairs::Semicolon),
        ("a=%", BadPairs::Percent),
        ("a=%4", BadPairs::Percent),
        ("a=%zz", BadPairs::Percent),
        ("a=%ff", BadPairs::NotUtf8),
        ("a=1#b", BadPairs::Byte),
        ("a=\u{e4}", BadPairs::Byte),
        ("a=b c", BadPairs::Byte),
        ("=1", BadPairs::Unnamed),
    ] {
        assert_eq!(refused(&of(query)), UnreadableRequest::Query(why), "{query}");
    }
    for query in ["", "a", "a=", "a=b=c", "a=1&b=1", "a=%C3%A4+%2B&b[]=1", "&a=1&"] {
        assert!(read(&of(query)).is_ok(), "{query}");
    }
}

/// R-3
#[test]
fn a_form_with_two_readings_is_refused() {
    let of = |body: &str| HttpRequest { content_type: "application/x-www-form-urlencoded".into(), ..request(body) };
    let twice = UnreadableRequest::Form(BadPairs::Twice("amount".into()));
    assert_eq!(refused(&of("amount=82000&amount=820000")), twice);
    assert_eq!(refused(&of("amount=82000;amount=820000")), UnreadableRequest::Form(BadPairs::Semicolon));
    assert_eq!(refused(&of("amount=82000&to=\u{e4}")), UnreadableRequest::Form(BadPairs::Byte));
    assert!(read(&of("amount=82000.10&to=Z%C3%BCrich+Nord")).is_ok());
}

#[test]
fn a_path_that_hides_something_is_refused() {
    let of = |account: &str| HttpRequest { target: format!("/v1/accounts/{account}/transfers"), ..request(BODY) };
    for account in ["%ff", "a%0Ab", "%00", "%c2%85", "", "%zz", "a;b", "ä"] {
        assert_eq!(refused(&of(account)), UnreadableRequest::Segment("account".into()), "{account}");
    }
    assert_eq!(refused(&of("a/b")), UnreadableRequest::Path);
    let elsewhere = HttpRequest { target: "/v2/accounts/main/transfers".into(), ..request(BODY) };
    assert_eq!(refused(&elsewhere), UnreadableRequest::Path);
    assert!(read(&of("M%C3%BCller+S%C3%B6hne")).is_ok());
}

/// The digest covers the body even if no members can be read from it.
#[test]
fn other_bodies_have_no_members_and_are_not_refused() {
    for (content_type, body) in [("text/plain", BODY), ("", BODY), ("application/octet-stream", "\0\u{1}"), ("", "")] {
        let request = HttpRequest { content_type: content_type.into(), ..request(body) };
        assert!(read(&request).is_ok(), "{content_type}");
    }
}

/// R-3. The test vectors shared by all implementations.
#[test]
fn a_request_has_the_digest_of_the_vectors() {
    let route = route(json!({ "id": "transfers.create" }));
    let with = |target: &str, body: &str| HttpRequest { target: target.into(), ..request(body) };
    let digest = |request: &HttpRequest| {
        let action = request.action(&bank(), "del_7f3c0a91e2b84d5566778899aabbccdd", &route);
        Action::Http(action).digest().unwrap().hex()
    };
    let body = r#"{"to":"acct-3344","amount":"82000.00","currency":"USD"}"#;
    let first = digest(&with("/v1/transfers?notify=true", body));
    assert_eq!(first, "c9e08c19f67aa0338cedd8a53cc43eea1d87108174c82c22c71968eee7625704");
    let other = digest(&with("/v1/transfers?notify=false", body));
    assert_eq!(other, "0cf69c411a2d2d3f63091a84c571c0f12727895bb7d6d53a46e3803f8d92e44c");
    let mut covered = with("/v1/transfers?notify=true", body);
    covered.headers.insert("if-match".into(), "\"v7\"".into());
    assert_eq!(digest(&covered), "c8fe1e0f0c68258b3347d7ae76d95bc2f0e473a8d0799f431490016343fe041f");
}

#[test]
fn a_stored_request_comes_back_byte_for_byte() {
    let request = HttpRequest { body: (0..=255).collect(), ..request("") };
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<HttpRequest>(&text).unwrap(), request);
    assert!(serde_json::from_str::<HttpRequest>(&text.replace("AAECAw", "!!!!!!")).is_err());
}
