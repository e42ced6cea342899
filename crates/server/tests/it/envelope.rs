//! One envelope for every error (AAP 16), from every layer that refuses a request.

mod bodies;
mod codes;
mod connections;
mod names;
mod refusals;

use crate::schemas;
use countersign_testkit::Answer;

/// The envelope of a response with this status and code; fails on any other.
#[track_caller]
fn assert_envelope(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.text());
    let body = answer.json();
    schemas::assert_valid("error-envelope", &body);
    assert_eq!((answer.status, body["error"].as_str()), (status, Some(code)), "{body:#}");
    assert!(body["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{body:#}");
    assert_eq!(answer.header("x-request-id"), body["request_id"].as_str());
    assert_eq!(answer.header("cache-control"), Some("no-store"), "a refusal is not for keeping");
}
