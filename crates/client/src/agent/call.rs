//! A call of the service's API, and the handling of its responses (AAP 7, 16).

use super::{
    Agent, CallError, MODE, RegisterError, ServiceRefusal,
    refusal::Fate,
    wire::{ANSWER_CAP, repeat},
};
use crate::intent_type::is_intent_type;
use bytes::Bytes;
use countersign_outbound::{Request, Response};
use countersign_protocol::time::UnixMillis;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use url::Url;

/// A request to the API. It has no custom headers, so a person's free text cannot leak into one (AAP 12.4).
#[derive(Clone, Debug)]
pub struct AgentCall {
    method: Method,
    path: String,
    body: Option<(&'static str, Bytes)>,
    intent_type: Option<String>,
    confirm: Option<String>,
}

impl AgentCall {
    /// `path` begins with a slash and may have a query.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: None, intent_type: None, confirm: None }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    pub fn json(self, body: &serde_json::Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn body(self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { body: Some((content_type, body.into())), ..self }
    }

    /// A word of the scope's vocabulary, such as `SCHEDULE_EVENT`.
    pub fn intent_type(self, intent_type: impl Into<String>) -> Self {
        Self { intent_type: Some(intent_type.into()), ..self }
    }

    /// Claims a person's approval for exactly this call: with the decision's `confirm_token`, or with `true` for any
    /// approval that covers it (AAP 14.1). It authorises nothing by itself.
    pub fn confirmed(self, by: impl Into<String>) -> Self {
        Self { confirm: Some(by.into()), ..self }
    }
}

impl Agent {
    /// Calls within the session. An expired access token is renewed once; a revoked delegation is dropped and the
    /// person notified; a 403 is final. Refusals of the API itself are returned as its response.
    pub async fn call(&mut self, call: &AgentCall, now: UnixMillis) -> Result<Response, CallError> {
        self.ready().await?;
        let request = self.resource(call)?;
        let renewed = self.renew_if_expired(now).await?;
        let answer = self.attempt(&request, now).await?;
        let Some(refused) = ServiceRefusal::of_resource(&answer) else { return Ok(answer) };
        if renewed || refused.fate() != Fate::RegisterAgain {
            return Err(self.call_refused(refused));
        }
        self.register_again(now).await?;
        let answer = self.attempt(&request, now).await?;
        ServiceRefusal::of_resource(&answer).map_or(Ok(answer), |refused| Err(self.call_refused(refused)))
    }

    fn resource(&self, call: &AgentCall) -> Result<Request, CallError> {
        let demanded = self.manifest().is_none_or(|manifest| manifest.intent_required);
        match &call.intent_type {
            None if demanded => return Err(CallError::IntentTypeNeeded),
            Some(text) if !is_intent_type(text) => return Err(CallError::NotAnIntentType),
            _ => {}
        }
        let body = call.body.clone();
        let mut request = Request::new(call.method.clone(), self.address(&call.path)?, Bytes::new());
        request.answer_cap = ANSWER_CAP;
        if let Some((content_type, body)) = body {
            request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
            request.body = body;
        }
        set(&mut request.headers, "x-agent-intent-type", call.intent_type.as_deref());
        set(&mut request.headers, "x-agent-confirm", call.confirm.as_deref());
        Ok(request)
    }

    /// The token is sent only to the configured origin, regardless of the path.
    fn address(&self, path: &str) -> Result<String, CallError> {
        let origin = self.config.api.as_ref().unwrap_or(&self.config.service);
        let base = Url::parse(origin.as_str()).map_err(|_| CallError::BadPath)?;
        let address = Url::parse(&format!("{origin}{path}")).map_err(|_| CallError::BadPath)?;
        let stays = path.starts_with('/') && address.origin() == base.origin() && address.fragment().is_none();
        if stays { Ok(address.into()) } else { Err(CallError::BadPath) }
    }

    /// Fetches a new access token if the old one has expired, and returns whether it did.
    async fn renew_if_expired(&mut self, now: UnixMillis) -> Result<bool, CallError> {
        let Some(session) = &self.session else {
            let connected = self.delegation.is_some();
            return Err(if connected { CallError::NotRegistered } else { self.not_connected().into() });
        };
        let live = session.access.as_ref().is_some_and(|access| now < access.expires_at);
        if !live {
            self.register_again(now).await?;
        }
        Ok(!live)
    }

    async fn attempt(&mut self, request: &Request, now: UnixMillis) -> Result<Response, CallError> {
        let session = self.session.as_ref().ok_or(CallError::NotRegistered)?;
        let access = session.access.as_ref().ok_or(CallError::NotRegistered)?;
        let mut request = request.clone();
        request.headers.insert(header::AUTHORIZATION, access.authorization.clone());
        set(&mut request.headers, "x-agent-mode", Some(MODE));
        set(&mut request.headers, "x-agent-session", Some(&session.id));
        set(&mut request.headers, "x-agent-delegation", session.delegation_id.as_deref());
        let (repeat, possession) = (repeat(&request.method), session.possession_of_session(now));
        Ok(self.send(request, repeat, possession.as_ref()).await?)
    }

    fn call_refused(&mut self, refused: ServiceRefusal) -> CallError {
        match self.apply_refusal(&refused) {
            Some(lost) => lost.into(),
            None if refused.fate() == Fate::Forbidden => CallError::NotPermitted(Box::new(refused)),
            None => CallError::Refused(Box::new(refused)),
        }
    }
}

/// The loss is the same, whether noticed by a call or while renewing its token.
impl From<RegisterError> for CallError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Lost(lost) => Self::Lost(lost),
            other => Self::Register(other),
        }
    }
}

fn set(headers: &mut HeaderMap, name: &'static str, value: Option<&str>) {
    if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
        headers.insert(HeaderName::from_static(name), value);
    }
}
