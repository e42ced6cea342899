//! The service for one caller: its address, the credential of each request, and the errors that every client of it has.

use crate::{
    agent::ServiceRefusal,
    possession::{Coming, Nonces, Possession, exchange, exchange_by},
    secret::ClientSecret,
    transport::{FetchError, Request, Response, Streaming, StreamingResponse, Transport, Unreachable},
};
use countersign_jose::{ProofKey, SigningFailed};
use countersign_protocol::{
    aap::{dpop, version},
    ids::ProjectId,
    origin::Origin,
    time::UnixMillis,
};
use http::{HeaderValue, header};
use serde::{Serialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

pub(crate) const ANSWER_CAP: usize = 1024 * 1024;
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The current time, for the proofs of a bound credential.
pub type ClientClock = Box<dyn Fn() -> UnixMillis + Send + Sync>;

/// Why the service returned no document. In doubt nothing may run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    #[error(
        "the service could not be reached ({0}): the effect is unknown; check the current state before you try again"
    )]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("the answer is not the document that it should be: is this the address of a Countersign service?")]
    BadAnswer,
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
    /// No rejection: the question may still be pending.
    #[error("no decision came during the wait: look again, or withdraw the question")]
    StillPending,
}

impl ServiceError {
    /// Whether a retry may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(why) => why.may_pass(),
            Self::Refused(refused) => refused.may_pass(),
            Self::BadAnswer | Self::Unsigned(_) | Self::StillPending => false,
        }
    }

    pub(crate) fn refused(answer: &Response) -> Option<Self> {
        ServiceRefusal::of_endpoint(answer).map(|refused| Box::new(refused).into())
    }
}

/// The document of a response.
pub(crate) fn document<A: DeserializeOwned>(answer: &Response) -> Result<A, ServiceError> {
    match ServiceError::refused(answer) {
        Some(refused) => Err(refused),
        None => serde_json::from_slice(&answer.body).map_err(|_| ServiceError::BadAnswer),
    }
}

pub(crate) struct ServiceClient {
    transport: Arc<dyn Transport>,
    base: String,
    credential: ClientSecret,
    bound: Option<(ProofKey, ClientClock)>,
    nonces: Nonces,
}

impl ServiceClient {
    pub(crate) fn new(
        service: &Origin,
        project: Option<&ProjectId>,
        credential: &str,
        transport: Arc<dyn Transport>,
    ) -> Self {
        let base = match project {
            Some(project) => format!("{service}/projects/{project}"),
            None => service.to_string(),
        };
        Self { transport, base, credential: ClientSecret::new(credential), bound: None, nonces: Nonces::default() }
    }

    /// With a credential bound to this key (AAP 13.1).
    pub(crate) fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { bound: Some((key, clock)), ..self }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, ServiceError> {
        document(&self.send(Request::get(self.url(path)), TIME_LIMIT, ANSWER_CAP).await?)
    }

    pub(crate) async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, ServiceError> {
        document(&self.send(self.posting(path, body)?, TIME_LIMIT, ANSWER_CAP).await?)
    }

    pub(crate) fn posting(&self, path: &str, body: &impl Serialize) -> Result<Request, ServiceError> {
        let body = serde_json::to_vec(body).map_err(|_| ServiceError::BadAnswer)?;
        Ok(Request::post_json(self.url(path), body))
    }

    pub(crate) async fn send(
        &self,
        request: Request,
        time_limit: Duration,
        answer_cap: usize,
    ) -> Result<Response, ServiceError> {
        let mut request = self.authorized(request, time_limit)?;
        request.answer_cap = answer_cap;
        exchange(self.transport.as_ref(), &self.nonces, self.possession().as_ref(), request).await
    }

    /// The same for an endless response; `time_limit` applies to its head.
    pub(crate) async fn open(
        &self,
        streaming: &dyn Streaming,
        request: Request,
        time_limit: Duration,
    ) -> Result<StreamingResponse, ServiceError> {
        let request = self.authorized(request, time_limit)?;
        let open = |request| Box::pin(async { Ok(streaming.open(request).await?) }) as Coming<'_, _, _>;
        exchange_by(open, &self.nonces, self.possession().as_ref(), request).await
    }

    fn authorized(&self, mut request: Request, time_limit: Duration) -> Result<Request, Unreachable> {
        request.time_limit = Some(time_limit);
        request.headers.insert(header::AUTHORIZATION, self.authorization()?);
        request.headers.insert(version::HEADER, HeaderValue::from_static(version::PREFERRED));
        Ok(request)
    }

    fn possession(&self) -> Option<Possession> {
        let (key, clock) = self.bound.as_ref()?;
        Some(Possession { key: key.clone(), token: Some(self.credential.clone()), now: clock() })
    }

    fn authorization(&self) -> Result<HeaderValue, Unreachable> {
        let scheme = if self.bound.is_some() { dpop::SCHEME } else { "Bearer" };
        let value = HeaderValue::try_from(format!("{scheme} {}", self.credential.reveal()));
        let mut value = value.map_err(|_| FetchError::Http)?;
        value.set_sensitive(true);
        Ok(value)
    }
}
