use super::{clean_response, forwarded, never_passes, version_served};
use countersign_protocol::project::Route;
use http::{HeaderMap, HeaderName, HeaderValue};

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair =
        |(name, value): &(&str, &str)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
    let mut map = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        map.append(name, value);
    }
    map
}

fn names(headers: &HeaderMap) -> Vec<&str> {
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

const SENT: &[(&str, &str)] = &[
    ("authorization", "Bearer t"),
    ("dpop", "proof"),
    ("cookie", "a=b"),
    ("host", "evil.test"),
    ("connection", "x-covered"),
    ("x-http-method-override", "DELETE"),
    ("x-forwarded-for", "10.0.0.1"),
    ("forwarded", "for=10.0.0.1"),
    ("x-agent-mode", "user_delegated"),
    ("countersign-identity", "made up"),
    ("content-type", "application/json"),
    ("content-encoding", "identity"),
    ("accept-encoding", "gzip"),
    ("accept", "text/html"),
    ("x-covered", "yes"),
];

///
#[test]
fn only_content_headers_and_headers_listed_by_the_route_reach_the_upstream() {
    let route = Route { headers: vec!["x-covered".into(), "x-absent".into()], ..Route::default() };
    assert_eq!(names(&forwarded(&headers(SENT), &route)), ["content-encoding", "content-type", "x-covered"]);
}

///
#[test]
fn forbidden_headers_do_not_pass_even_if_the_route_lists_them() {
    let route = Route { headers: SENT.iter().map(|(name, _)| (*name).to_owned()).collect(), ..Route::default() };
    let passed = forwarded(&headers(SENT), &route);
    assert_eq!(names(&passed), ["accept", "accept-encoding", "content-encoding", "content-type", "x-covered"]);
    for name in ["te", "trailer", "transfer-encoding", "content-length", "upgrade", "x-method-override", "expect"] {
        assert!(never_passes(name), "{name}");
    }
}

#[test]
fn a_listed_header_passes_with_all_its_values_and_in_order() {
    let route = Route { headers: vec!["accept".into(), "accept".into()], ..Route::default() };
    let passed = forwarded(&headers(&[("accept", "a"), ("accept", "b")]), &route);
    assert_eq!(passed.get_all("accept").iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn an_upstream_cannot_speak_for_the_gateway() {
    let mut answer = headers(&[
        ("connection", "close, X-Hop"),
        ("x-hop", "1"),
        ("keep-alive", "timeout=5"),
        ("transfer-encoding", "chunked"),
        ("content-length", "4"),
        ("countersign-decision", "made up"),
        ("x-agent-revoke-reason", "manual_revoke"),
        ("dpop-nonce", "theirs"),
        ("www-authenticate", "DPoP error=\"use_dpop_nonce\""),
        ("www-authenticate", "Basic realm=\"x\", dpop algs=\"ES256\""),
        ("www-authenticate", "Basic realm=\"x\""),
        ("alt-svc", "h3=\":443\""),
        ("aap-version-served", "9.9"),
        ("x-request-id", "theirs"),
        ("content-type", "text/plain"),
        ("etag", "\"1\""),
    ]);
    clean_response(&mut answer, false);
    assert_eq!(names(&answer), ["content-type", "etag", "www-authenticate"]);
    assert_eq!(answer.get_all("www-authenticate").iter().collect::<Vec<_>>(), ["Basic realm=\"x\""]);
}

#[test]
fn the_answer_to_a_head_keeps_the_length_that_it_speaks_of() {
    let mut answer = headers(&[("content-length", "4"), ("etag", "\"1\"")]);
    clean_response(&mut answer, true);
    assert_eq!(names(&answer), ["content-length", "etag"]);
}

/// AAP-22.2-03
#[test]
fn the_requested_version_is_served_although_a_newer_one_is_accepted() {
    for (asked, served) in [("2.0", "2.0"), ("2.1", "2.1"), ("3.0", "2.0")] {
        assert_eq!(version_served(&headers(&[("aap-version", asked)]), &["2.0", "2.1"]), served, "{asked}");
    }
    assert_eq!(version_served(&headers(&[]), &["2.0"]), "2.0");
}
