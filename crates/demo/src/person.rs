//! The person of a scripted demo: the same requests as from the pages, with the same session.

use super::plane::{PASSWORD, PERSON, transport, trouble};
use crate::DemoFailure;
use countersign_client::transport::{Request, Response, Transport as _, WithLoopback};
use countersign_protocol::origin::Origin;
use http::{HeaderValue, header};
use serde_json::{Value, json};

pub(super) struct DemoPerson {
    transport: WithLoopback,
    origin: String,
    cookie: HeaderValue,
    csrf: HeaderValue,
}

impl DemoPerson {
    pub(super) async fn sign_in(origin: &Origin) -> Result<Self, DemoFailure> {
        let (transport, origin) = (transport()?, origin.to_string());
        let body = json!({ "name": PERSON, "password": PASSWORD }).to_string();
        let answer = transport.send(Request::post_json(format!("{origin}/session"), body)).await.map_err(trouble)?;
        let set = answer.headers.get(header::SET_COOKIE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let cookie = HeaderValue::from_str(set.split(';').next().unwrap_or_default()).map_err(trouble)?;
        let told = read(&answer)?;
        let csrf = HeaderValue::from_str(text(&told, "csrf_token")).map_err(trouble)?;
        Ok(Self { transport, origin, cookie, csrf })
    }

    /// Reads the request, then consents to exactly that. Returns the disclosure and the code.
    pub(super) async fn approve(&self, request_id: &str) -> Result<(Value, String), DemoFailure> {
        let shown = self.post("/agent/delegate", &json!({ "request_id": request_id })).await?;
        let yes = json!({
            "request_id": request_id,
            "disclosure_id": text(&shown, "disclosure_id"),
            "acknowledged_disclosure": true,
        });
        let granted = self.post("/agent/delegate", &yes).await?;
        let code = text(&granted, "code").to_owned();
        Ok((shown, code))
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, DemoFailure> {
        self.send(Request::get(format!("{}{path}", self.origin))).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, DemoFailure> {
        self.send(Request::post_json(format!("{}{path}", self.origin), body.to_string())).await
    }

    async fn send(&self, mut request: Request) -> Result<Value, DemoFailure> {
        request.headers.insert(header::COOKIE, self.cookie.clone());
        request.headers.insert("x-csrf-token", self.csrf.clone());
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        read(&self.transport.send(request).await.map_err(trouble)?)
    }
}

fn read(answer: &Response) -> Result<Value, DemoFailure> {
    let body: Value = serde_json::from_slice(&answer.body).map_err(trouble)?;
    if answer.status.is_success() { Ok(body) } else { Err(DemoFailure::new(format!("unexpectedly refused: {body}"))) }
}

/// A text member; empty if it is missing.
pub(super) fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap_or_default()
}
