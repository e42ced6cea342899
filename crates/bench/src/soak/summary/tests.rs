use super::*;
use serde_json::json;

fn answered(status: u16, body: &Value, is_whole: bool) -> ReportedResult {
    let body = body.to_string().into();
    classify(&Ok(Answer { status, headers: ::http::HeaderMap::new(), body, is_whole })).0
}

fn refused(status: u16, code: &str, description: &str) -> ReportedResult {
    let body = json!({ "error": code, "error_description": description, "request_id": "req_1" });
    answered(status, &body, true)
}

///
#[test]
fn only_a_refusal_without_doubt_says_that_nothing_happened() {
    let doubt = "the upstream did not respond in time; the request may have been carried out";
    assert_eq!(refused(504, "upstream_timeout", doubt), ReportedResult::InDoubt);
    assert_eq!(
        refused(503, "service_unavailable", "the record of this request could not be written"),
        ReportedResult::Denied
    );
    assert_eq!(
        refused(409, "conflict", "exactly this call is already in progress: see decision dec_1"),
        ReportedResult::Conflict
    );
    assert_eq!(refused(403, "irreversible_requires_confirm", "a person must confirm it"), ReportedResult::Held);
    assert_eq!(classify(&Err(NoAnswer::Lost("closed".into()))).0, ReportedResult::InDoubt);
    assert_eq!(classify(&Err(NoAnswer::NotSent("refused".into()))).0, ReportedResult::Denied);
}

///
#[test]
fn an_error_of_the_upstream_is_a_doubt_unless_it_says_that_it_did_nothing() {
    let from = |manner: &str| json!({ "upstream": manner, "marker": "w1" });
    assert_eq!(answered(200, &from("normal"), true), ReportedResult::Ran);
    assert_eq!(answered(200, &from("half an answer"), false), ReportedResult::InDoubt);
    assert_eq!(answered(500, &from("500 before the work"), true), ReportedResult::InDoubt);
    assert_eq!(answered(503, &from("503 without effect"), true), ReportedResult::Denied);
}
