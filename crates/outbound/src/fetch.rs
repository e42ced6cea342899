//! The client: a URL, one resolution, one checked address, one exchange. Never a redirect, never a proxy.

#[cfg(test)]
mod tests;

use crate::{
    exchange::{self, Request, Response, Streamed},
    guard,
    log::FetchLog,
    resolve::{Dial, Resolver, SystemDns, Tcp},
    target::{BadUrl, OutboundTarget, StaticHosts},
    tls::{self, BadRoots},
};
use bytes::Bytes;
use http::StatusCode;
use rustls::pki_types::ServerName;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Time limit of one exchange, from resolving to the last byte (C-68).
pub const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of a host's addresses to try.
const ATTEMPTS: u32 = 3;

/// An installation's settings for outgoing connections.
#[derive(Clone, Debug)]
pub struct FetcherConfig {
    /// Names with a fixed address and port; the only way to reach an address that is not public.
    pub static_hosts: StaticHosts,
    /// Root certificates in PEM, trusted in addition to the machine's own.
    pub extra_roots_pem: Vec<u8>,
    pub native_roots: bool,
    pub time_limit: Duration,
}

impl Default for FetcherConfig {
    fn default() -> Self {
        Self {
            static_hosts: StaticHosts::new(),
            extra_roots_pem: Vec::new(),
            native_roots: true,
            time_limit: TIME_LIMIT,
        }
    }
}

/// Why a fetch failed. Addresses are left out: the text may reach a stranger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("the URL is refused: {0}")]
    Url(#[from] BadUrl),
    #[error("the host has no address")]
    NoAddress,
    #[error("the host has no public address")]
    ForbiddenAddress,
    #[error("no connection could be made")]
    Connect,
    #[error("the server's certificate was not accepted, or TLS failed")]
    Tls,
    #[error("the server broke the exchange off")]
    Http,
    #[error("no complete answer within the time limit")]
    TimedOut,
    #[error("the answer is larger than {cap} bytes")]
    TooLarge { cap: usize, status: u16 },
    #[error("the answer is a redirect ({0}), which is not followed")]
    Redirect(u16),
    #[error("the answer has status {0}")]
    Status(u16),
    #[error("the answer is not labelled as JSON")]
    NotJson,
}

impl FetchError {
    fn of_status(status: u16) -> Self {
        if (300..400).contains(&status) { Self::Redirect(status) } else { Self::Status(status) }
    }
}

/// The one place that opens connections to hosts a stranger may name.
#[derive(Clone)]
pub struct Fetcher {
    static_hosts: Arc<StaticHosts>,
    time_limit: Duration,
    tls: TlsConnector,
    resolver: Arc<dyn Resolver>,
    dialer: Arc<dyn Dial>,
    log: Option<Arc<dyn FetchLog>>,
}

impl Fetcher {
    pub fn new(config: FetcherConfig) -> Result<Self, BadRoots> {
        let tls = tls::client_config(config.native_roots, &config.extra_roots_pem)?;
        Ok(Self {
            static_hosts: Arc::new(config.static_hosts),
            time_limit: config.time_limit,
            tls: TlsConnector::from(Arc::new(tls)),
            resolver: Arc::new(SystemDns),
            dialer: Arc::new(Tcp),
            log: None,
        })
    }

    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    pub fn with_log(self, log: Arc<dyn FetchLog>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// The bytes of a JSON document: status 200, labelled as JSON, at most [`exchange::DOCUMENT_CAP`] long.
    pub async fn get_json(&self, url: &str) -> Result<Bytes, FetchError> {
        match self.request(Request::get(url)).await {
            Ok(answer) if answer.status != StatusCode::OK => Err(FetchError::of_status(answer.status.as_u16())),
            Ok(answer) if answer.is_json() => Ok(answer.body),
            Ok(_) => Err(FetchError::NotJson),
            // An oversized error page is reported by its status.
            Err(FetchError::TooLarge { status, .. }) if status != 200 => Err(FetchError::of_status(status)),
            Err(error) => Err(error),
        }
    }

    /// Any exchange under the same guards. The caller checks the status; redirects are not followed.
    pub async fn request(&self, request: Request) -> Result<Response, FetchError> {
        let (cap, limit) = (request.answer_cap, request.time_limit.unwrap_or(self.time_limit));
        let whole = async { self.begin(request).await?.whole(cap).await };
        tokio::time::timeout(limit, whole).await.unwrap_or(Err(FetchError::TimedOut))
    }

    /// For a streaming response: the limit applies to its head, and the caller waits for the rest.
    pub async fn open(&self, request: Request) -> Result<Streamed, FetchError> {
        let limit = request.time_limit.unwrap_or(self.time_limit);
        tokio::time::timeout(limit, self.begin(request)).await.unwrap_or(Err(FetchError::TimedOut))
    }

    async fn begin(&self, request: Request) -> Result<Streamed, FetchError> {
        let target = OutboundTarget::of(&request.url, &self.static_hosts)?;
        if let Some(log) = &self.log {
            log.before_fetch(&request.method, &request.url);
        }
        let stream = self.connect(&target).await?;
        exchange::begin(stream, exchange::to_http(&target, request)?).await
    }

    async fn connect(&self, target: &OutboundTarget) -> Result<TlsStream<TcpStream>, FetchError> {
        let name = ServerName::try_from(target.host.clone()).map_err(|_| BadUrl::NotAHostname)?;
        let tcp = self.reach(&self.addresses(target).await?).await?;
        self.tls.connect(name, tcp).await.map_err(|_| FetchError::Tls)
    }

    /// The permitted addresses. Resolved once: the checked address is the dialled one.
    async fn addresses(&self, target: &OutboundTarget) -> Result<Vec<SocketAddr>, FetchError> {
        if let Some(fixed) = target.fixed {
            return Ok(vec![fixed]);
        }
        let found = self.resolver.resolve(&target.host).await.map_err(|_| FetchError::NoAddress)?;
        if found.is_empty() {
            return Err(FetchError::NoAddress);
        }
        let (public, forbidden): (Vec<_>, Vec<_>) = found.into_iter().partition(|a| guard::is_public(*a).is_ok());
        if let Some(refused) = forbidden.into_iter().find_map(|address| guard::is_public(address).err()) {
            tracing::info!(host = target.host, %refused, "a host names an address that is not public");
        }
        if public.is_empty() {
            return Err(FetchError::ForbiddenAddress);
        }
        Ok(public.into_iter().map(|address| SocketAddr::new(address, 443)).collect())
    }

    async fn reach(&self, addresses: &[SocketAddr]) -> Result<TcpStream, FetchError> {
        for address in addresses.iter().take(ATTEMPTS as usize) {
            // A part of the limit each, so that one dead address does not use up the time of the next.
            let attempt = tokio::time::timeout(self.time_limit / ATTEMPTS, self.dialer.dial(*address));
            if let Ok(Ok(stream)) = attempt.await {
                return Ok(stream);
            }
        }
        Err(FetchError::Connect)
    }
}
