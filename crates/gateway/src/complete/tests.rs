use super::{complete, head_of};
use bytes::Bytes;
use countersign_engine::Refusal;
use countersign_protocol::project::Route;
use http::{Request, request::Parts};

const ORIGIN: &str = "https://api.bank.test";

fn parts(target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn route() -> Route {
    Route { headers: vec!["x-branch".into(), "x-other".into()], ..Route::default() }
}

///
#[test]
fn a_covered_header_that_stands_twice_is_refused() {
    for name in ["x-branch", "content-type", "content-encoding"] {
        let parts = parts("/transfers", &[(name, "a"), (name, "b")]);
        let refusal = complete(&parts, ORIGIN, &route(), &Bytes::new()).unwrap_err();
        assert_eq!(refusal, Refusal::invalid(format!("the header {name} occurs more than once")));
    }
}

///
#[test]
fn the_forwarded_request_is_made_of_digested_members() {
    let sent = [
        ("content-type", "application/json"),
        ("x-branch", "7"),
        ("x-not-covered", "1"),
        ("authorization", "Bearer t"),
        ("host", "evil.test"),
    ];
    let parts = parts("/transfers%20/a?b=%2F&&c", &sent);
    let request = complete(&parts, ORIGIN, &route(), &Bytes::from_static(b"{\"a\": 1}")).unwrap();
    assert_eq!((request.origin.as_str(), request.target.as_str()), (ORIGIN, "/transfers%20/a?b=%2F&&c"));
    assert_eq!((request.content_type.as_str(), request.content_encoding.as_str()), ("application/json", ""));
    assert_eq!(request.headers.iter().collect::<Vec<_>>(), [(&"x-branch".to_owned(), &"7".to_owned())]);
    assert_eq!(request.body, b"{\"a\": 1}");
    let (method, uri, passed) = head_of(&request).unwrap();
    assert_eq!((method.as_str(), uri.to_string()), ("POST", request.target));
    let mut names: Vec<_> = passed.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    names.sort_unstable();
    assert_eq!(names, [("content-type", "application/json"), ("x-branch", "7")]);
}

#[test]
fn an_absolute_form_has_the_target_of_its_path() {
    let parts = parts("https://api.bank.test/transfers?a", &[]);
    let request = complete(&parts, ORIGIN, &route(), &Bytes::new()).unwrap();
    assert_eq!(request.target, "/transfers?a");
}
