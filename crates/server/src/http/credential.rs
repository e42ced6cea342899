//! The credential of a request and its DPoP proof, not yet verified, and the nonce for the next one (AAP 18, RFC 9449).

use axum::{
    extract::{OriginalUri, Request},
    response::Response,
};
use countersign_engine::{PresentedCredential, ProjectAt, Refusal, Scheme};
use countersign_protocol::aap::dpop::{self, NONCE_HEADER};
use http::{HeaderMap, HeaderValue, Method, header, request::Parts};
use std::sync::{Arc, OnceLock};

/// The token of `Authorization`, with its request.
#[derive(Clone, Debug)]
pub(crate) struct BearerCredential {
    pub(crate) token: String,
    scheme: Scheme,
    proof: ProofHeader,
    to: SentTo,
}

/// A request's method, and its path as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct SentTo {
    pub(crate) method: Method,
    path: String,
}

#[derive(Clone, Debug)]
enum ProofHeader {
    None,
    One(String),
    /// Two proofs are ambiguous (RFC 9449 4.3).
    Unusable,
}

impl BearerCredential {
    pub(crate) fn of(headers: &HeaderMap, to: &SentTo) -> Result<Option<Self>, Refusal> {
        if headers.get_all(header::AUTHORIZATION).iter().nth(1).is_some() {
            return Err(Refusal::invalid("the header authorization occurs more than once"));
        }
        let Some((scheme, token)) = scheme_and_token(headers) else { return Ok(None) };
        let token = token.trim().to_owned();
        Ok(Some(Self { token, scheme, proof: ProofHeader::of(headers), to: to.clone() }))
    }

    /// Of the three credentials presented alike, the one that is neither a key nor an operator's JWT.
    pub(crate) fn is_access_token(&self) -> bool {
        !self.is_api_key() && !self.is_operator_jwt()
    }

    pub(crate) fn is_api_key(&self) -> bool {
        self.token.starts_with("csk_")
    }

    /// An operator's JWT is never bound to a key, so it comes without a proof.
    pub(crate) fn is_operator_jwt(&self) -> bool {
        !self.is_api_key() && self.scheme == Scheme::Bearer && self.token.matches('.').count() == 2
    }

    /// The URL that a proof must be made for.
    pub(crate) fn url(&self, at: &ProjectAt) -> String {
        self.to.url(at)
    }

    pub(crate) fn presented<'a>(&'a self, url: &'a str) -> Result<PresentedCredential<'a>, Refusal> {
        let (token, scheme, method) = (self.token.as_str(), self.scheme, self.to.method.as_str());
        Ok(PresentedCredential { token, scheme, proof: self.proof.read()?, method, url })
    }
}

impl SentTo {
    /// A nested router shortens the path that its handlers see; proofs are made for the full path.
    pub(crate) fn of(parts: &Parts) -> Self {
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        Self { method: parts.method.clone(), path: uri.path().to_owned() }
    }

    /// The URL on the configured origin of the service or the project: the `Host` header is ignored.
    pub(crate) fn url(&self, at: &ProjectAt) -> String {
        format!("{}{}", at.service, self.path)
    }
}

/// The one proof of a request that has no token yet.
pub(crate) fn proof(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let proof = ProofHeader::of(headers);
    proof.read().map(|proof| proof.map(str::to_owned))
}

impl ProofHeader {
    fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(dpop::HEADER).iter();
        match (values.next().map(|value| value.to_str()), values.next()) {
            (None, _) => Self::None,
            (Some(Ok(text)), None) => Self::One(text.to_owned()),
            _ => Self::Unusable,
        }
    }

    fn read(&self) -> Result<Option<&str>, Refusal> {
        match self {
            Self::None => Ok(None),
            Self::One(proof) => Ok(Some(proof)),
            Self::Unusable => Err(Refusal::DpopInvalid("the header DPoP must occur once, as readable text".into())),
        }
    }
}

fn scheme_and_token(headers: &HeaderMap) -> Option<(Scheme, &str)> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    match scheme {
        named if named.eq_ignore_ascii_case("bearer") => Some((Scheme::Bearer, token)),
        named if named.eq_ignore_ascii_case(dpop::SCHEME) => Some((Scheme::Dpop, token)),
        _ => None,
    }
}

/// The nonce for the response. The extractor that authenticates the caller fills it; the outermost layer, which also
/// sees refusals, writes it.
#[derive(Clone, Default)]
pub(crate) struct Nonce(Arc<OnceLock<HeaderValue>>);

impl Nonce {
    /// Adds an empty slot to a request.
    pub(crate) fn awaited(request: &mut Request) -> Self {
        let nonce = Self::default();
        request.extensions_mut().insert(nonce.clone());
        nonce
    }

    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    pub(crate) fn give(&self, nonce: Option<String>) {
        if let Some(value) = nonce.and_then(|nonce| HeaderValue::from_str(&nonce).ok()) {
            let _given_before = self.0.set(value);
        }
    }

    pub(crate) fn write_to(&self, mut response: Response) -> Response {
        if let Some(nonce) = self.0.get() {
            response.headers_mut().insert(NONCE_HEADER, nonce.clone());
        }
        response
    }
}
