//! A client of the service: its address, and the credential of each request.

use crate::{
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
use std::{sync::Arc, time::Duration};

const ANSWER_CAP: usize = 1024 * 1024;

/// The current time, for the proofs of a bound credential.
pub type ClientClock = Box<dyn Fn() -> UnixMillis + Send + Sync>;

pub(crate) struct Door {
    transport: Arc<dyn Transport>,
    base: String,
    credential: ClientSecret,
    bound: Option<(ProofKey, ClientClock)>,
    nonces: Nonces,
}

impl Door {
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

    pub(crate) async fn send<E>(&self, request: Request, time_limit: Duration) -> Result<Response, E>
    where
        E: From<Unreachable> + From<SigningFailed>,
    {
        self.send_for(request, time_limit, ANSWER_CAP).await
    }

    /// The same with a larger limit for the response.
    pub(crate) async fn send_for<E>(
        &self,
        request: Request,
        time_limit: Duration,
        answer_cap: usize,
    ) -> Result<Response, E>
    where
        E: From<Unreachable> + From<SigningFailed>,
    {
        let mut request = self.introduced(request, time_limit)?;
        request.answer_cap = answer_cap;
        exchange(self.transport.as_ref(), &self.nonces, self.possession().as_ref(), request).await
    }

    /// The same for an endless response; `time_limit` applies to its head.
    pub(crate) async fn open<E>(
        &self,
        streaming: &dyn Streaming,
        request: Request,
        time_limit: Duration,
    ) -> Result<StreamingResponse, E>
    where
        E: From<Unreachable> + From<SigningFailed>,
    {
        let request = self.introduced(request, time_limit)?;
        let open = |request| Box::pin(async { Ok(streaming.open(request).await?) }) as Coming<'_, _, _>;
        exchange_by(open, &self.nonces, self.possession().as_ref(), request).await
    }

    fn introduced(&self, mut request: Request, time_limit: Duration) -> Result<Request, Unreachable> {
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
