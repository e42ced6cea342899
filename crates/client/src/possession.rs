//! Proof of possession, the caller's half (AAP 18): a proof for each request, with the service's nonce.

use crate::{
    entropy,
    secret::ClientSecret,
    transport::{Request, Response, StreamingResponse, Transport, Unreachable},
};
use countersign_jose::{ProofKey, SigningFailed};
use countersign_protocol::{aap::dpop, time::UnixMillis};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Mutex, PoisonError},
};
use url::Url;

/// More than any service needs for a nonce; a longer one is ignored.
const MAX_NONCE_BYTES: usize = 1024;

/// The proof material of a request: the session's key and, once there is one, the token bound to it.
#[derive(Clone, Debug)]
pub(crate) struct Possession {
    pub(crate) key: ProofKey,
    pub(crate) token: Option<ClientSecret>,
    pub(crate) now: UnixMillis,
}

impl Possession {
    fn prove(&self, mut request: Request, nonce: Option<&str>) -> Result<Request, SigningFailed> {
        let jti = entropy::uuid_v4().map_err(|_| SigningFailed)?;
        let (method, token) = (request.method.as_str(), self.token.as_ref().map(ClientSecret::reveal));
        let proof = self.key.proof(method, &request.url, token, nonce, &jti, self.now)?;
        request.headers.insert(dpop::HEADER, HeaderValue::try_from(proof).map_err(|_| SigningFailed)?);
        Ok(request)
    }
}

/// One exchange. If only a nonce was missing, it is repeated once with the nonce, and never a third time (AAP 18.4).
///
/// Repeating a write is safe here: a service that demands a nonce has refused the request.
pub(crate) async fn exchange<E: From<Unreachable> + From<SigningFailed>>(
    transport: &dyn Transport,
    nonces: &Nonces,
    possession: Option<&Possession>,
    request: Request,
) -> Result<Response, E> {
    exchange_by(|request| Box::pin(async { Ok(transport.send(request).await?) }), nonces, possession, request).await
}

/// A pending response. Boxed, because the compiler accepts no other form as `Send`.
pub(crate) type Coming<'a, A, E> = Pin<Box<dyn Future<Output = Result<A, E>> + Send + 'a>>;

/// The same for any way of sending and any kind of response.
pub(crate) async fn exchange_by<'a, A: Headed, E: From<SigningFailed>>(
    send: impl Fn(Request) -> Coming<'a, A, E>,
    nonces: &Nonces,
    possession: Option<&Possession>,
    request: Request,
) -> Result<A, E> {
    let url = request.url.clone();
    let Some(possession) = possession else {
        let answer = send(request).await?;
        nonces.store_nonce(&url, &answer);
        return Ok(answer);
    };
    let known = nonces.of(&url);
    let answer = send(possession.prove(request.clone(), known.as_deref())?).await?;
    let told = nonces.store_nonce(&url, &answer).filter(|told| Some(told) != known.as_ref());
    let Some(nonce) = told.filter(|_| is_demanded(&answer)) else { return Ok(answer) };
    let answer = send(possession.prove(request, Some(&nonce))?).await?;
    nonces.store_nonce(&url, &answer);
    Ok(answer)
}

/// The head of a response, complete or streaming.
pub(crate) trait Headed {
    fn head(&self) -> (StatusCode, &HeaderMap);
}

impl Headed for Response {
    fn head(&self) -> (StatusCode, &HeaderMap) {
        (self.status, &self.headers)
    }
}

impl Headed for StreamingResponse {
    fn head(&self) -> (StatusCode, &HeaderMap) {
        (self.status, &self.headers)
    }
}

/// The last nonce of each origin. Nonces are not shared between services (RFC 9449 8.2).
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<BTreeMap<String, String>>);

impl Nonces {
    /// Stores the nonce of a response, whether success or refusal.
    pub(crate) fn store_nonce(&self, url: &str, answer: &impl Headed) -> Option<String> {
        let told = answer.head().1.get(dpop::NONCE_HEADER)?.to_str().ok()?;
        let nonce = Some(told).filter(|told| (1..=MAX_NONCE_BYTES).contains(&told.len()))?.to_owned();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(origin(url)?, nonce.clone());
        Some(nonce)
    }

    fn of(&self, url: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&origin(url)?).cloned()
    }
}

fn origin(url: &str) -> Option<String> {
    Url::parse(url).ok().map(|url| url.origin().ascii_serialization())
}

fn is_demanded(answer: &impl Headed) -> bool {
    let (status, headers) = answer.head();
    let mut challenges = headers.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    status == StatusCode::UNAUTHORIZED && challenges.any(|challenge| challenge.contains(dpop::USE_NONCE))
}
