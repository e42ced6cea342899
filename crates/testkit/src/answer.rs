//! An HTTP response, read to its end.

use crate::deadline::within_deadline;
use axum::{body::Body, response::Response};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// Sends a request through a whole router, middleware included.
    pub async fn to(router: &axum::Router, request: Request<Body>) -> Self {
        let what = format!("the answer to {} {}", request.method(), request.uri().path());
        let response = within_deadline(&what, router.clone().oneshot(request)).await;
        Self::read(response.expect("a router never fails")).await
    }

    pub async fn read(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = within_deadline("the end of an answer", body.collect()).await;
        let body = body.expect("a body in memory").to_bytes().to_vec();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|why| panic!("not JSON ({why}): {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The value of a header, if present.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a header of text"))
    }

    /// The error code of an envelope.
    pub fn code(&self) -> String {
        self.json()["error"].as_str().unwrap_or_else(|| panic!("no envelope: {}", self.text())).to_owned()
    }

    /// Status and code together, for comparison with a requirement.
    pub fn refusal(&self) -> (u16, String) {
        (self.status, self.code())
    }

    /// Fails with the body unless the status is the one expected.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|s| s.is_success())
    }
}
