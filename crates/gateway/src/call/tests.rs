use super::read_call;
use countersign_engine::{Call, CallCredential, DryRun, Refusal, Scheme};
use countersign_protocol::hash::Digest;
use http::{Request, request::Parts};

const ORIGIN: &str = "https://api.bank.test";

fn parts(headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post("/transfers?to=bob");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn call(headers: &[(&str, &str)]) -> Result<Call, Refusal> {
    read_call(&mut parts(headers), ORIGIN)
}

///
#[test]
fn the_origin_is_the_configured_one_with_any_host_header() {
    let call = call(&[("host", "evil.test"), ("x-forwarded-host", "evil.test")]).unwrap();
    assert_eq!((call.origin.as_str(), call.path.as_str()), (ORIGIN, "/transfers"));
    assert_eq!(call.query.as_deref(), Some("to=bob"));
}

#[test]
fn a_header_that_decides_something_may_not_stand_twice() {
    for name in ["authorization", "x-agent-mode", "x-agent-consent", "x-agent-confirm", "x-agent-session"] {
        let twice = [("authorization", "Bearer t"), (name, "a"), (name, "b")];
        let refusal = call(&twice).unwrap_err();
        assert_eq!(refusal, Refusal::invalid(format!("the header {name} occurs more than once")));
    }
}

/// RFC 9449 4.3, R-28
#[test]
fn several_proofs_are_a_list_which_is_none() {
    let proofs = [("authorization", "DPoP t"), ("dpop", "a.b.c"), ("dpop", "d.e.f")];
    assert_eq!(call(&proofs).unwrap().proof.as_deref(), Some("a.b.c, d.e.f"));
    assert_eq!(call(&proofs[..2]).unwrap().proof.as_deref(), Some("a.b.c"));
    assert_eq!(call(&proofs[..1]).unwrap().proof, None);
}

#[test]
fn anything_but_a_single_token_under_a_known_scheme_is_unusable() {
    for value in ["Basic abc", "Bearer", "Bearer ", "DPoP a, Bearer a", "Bearer a b", "token", "Bearer a,b"] {
        assert_eq!(call(&[("authorization", value)]).unwrap().credential, CallCredential::Unusable, "{value}");
    }
}

#[test]
fn both_schemes_are_recognised_in_any_case_and_distinguished() {
    let hash = Digest::of(b"tok");
    for (value, scheme) in [("bearer tok", Scheme::Bearer), ("BEARER tok", Scheme::Bearer), ("dpop tok", Scheme::Dpop)]
    {
        let credential = call(&[("authorization", value)]).unwrap().credential;
        assert_eq!(credential, CallCredential::Token { hash, scheme }, "{value}");
    }
}

///
#[test]
fn without_credentials_nothing_else_is_looked_at() {
    let call = call(&[("dpop", "a"), ("dpop", "b"), ("x-agent-mode", "a"), ("x-agent-mode", "b")]).unwrap();
    assert_eq!((call.credential, call.proof, call.mode), (CallCredential::None, None, None));
}

#[test]
fn a_wait_is_read_from_any_prefer_header_and_capped() {
    let wait = |values: &[&str]| {
        let mut headers = vec![("authorization", "Bearer t")];
        headers.extend(values.iter().map(|value| ("prefer", *value)));
        call(&headers).unwrap().wait_s
    };
    for none in [&["wait"][..], &["wait=soon"], &["wait=-1"], &["respond-async"], &["wait=1.5"], &["waiting=3"], &[]] {
        assert_eq!(wait(none), None, "{none:?}");
    }
    assert_eq!(wait(&["wait=10"]), Some(10));
    assert_eq!(wait(&["respond-async, WAIT=\"7\"; foo=bar"]), Some(7));
    assert_eq!(wait(&["handling=lenient", "wait=3", "wait=9"]), Some(3));
    assert_eq!(wait(&["wait=3600"]), Some(55));
    assert_eq!(wait(&["wait=99999999999999999999"]), None);
}

///
#[test]
fn the_marker_of_a_dry_run_is_no_part_of_the_request_that_is_decided() {
    let read = |target: &str, header: Option<&str>| {
        let mut request = Request::get(target).header("authorization", "Bearer t");
        if let Some(value) = header {
            request = request.header("x-agent-dry-run", value);
        }
        let mut parts = request.body(()).unwrap().into_parts().0;
        let call = read_call(&mut parts, ORIGIN).unwrap();
        assert_eq!(call.query.as_deref(), parts.uri.query());
        assert!(!parts.headers.contains_key("x-agent-dry-run"));
        (call.dry_run, parts.uri.to_string())
    };
    for (target, header, marker, rest) in [
        ("/a?b=dry_run", None, DryRun::No, "/a?b=dry_run"),
        ("/a?dry_run=true", None, DryRun::Requested, "/a"),
        ("/a?b=1&dry_run=true&c=2", Some("true"), DryRun::Requested, "/a?b=1&c=2"),
        ("/a?b=1", Some("true"), DryRun::Requested, "/a?b=1"),
        ("/a?dry_run=false&b=1", Some("false"), DryRun::No, "/a?b=1"),
        ("https://api.bank.test/a?dry_run=true", None, DryRun::Requested, "https://api.bank.test/a"),
        ("*", Some("true"), DryRun::Requested, "*"),
    ] {
        assert_eq!(read(target, header), (marker, rest.to_owned()), "{target} {header:?}");
    }
    for target in ["/a?dry_run", "/a?b=1&dry_run=1", "/a?DRY%5FRUN=true"] {
        assert!(matches!(read(target, None).0, DryRun::Unclear(_)), "{target}");
    }
}
