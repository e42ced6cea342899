//! Outgoing requests: through the guarded client, in plain http to the local machine where that was chosen, or a
//! replacement in tests.

pub use countersign_outbound::{FetchError, Request, Response};

use async_trait::async_trait;
use bytes::Bytes;
use countersign_outbound::{Fetcher, Streamed, exchange};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::Full;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::net::TcpStream;
use url::{Host, Url};

/// Longer than the longest wait a service offers.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// One exchange. The caller judges the status; redirects are not followed.
#[async_trait]
pub trait Transport: Send + Sync {
    async fn send(&self, request: Request) -> Result<Response, Unreachable>;
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("plain http is used for this machine only")]
    NotLoopback,
}

impl Unreachable {
    /// Whether a retry may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        !matches!(self, Self::NotLoopback | Self::Fetch(FetchError::Url(_)))
    }
}

/// The guarded client: https, a public address, no redirect.
#[async_trait]
impl Transport for Fetcher {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        Ok(self.request(request).await?)
    }
}

/// A transport that can also stream a response.
#[async_trait]
pub trait Streaming: Transport {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable>;
}

/// The head of a response, and its remaining body.
pub struct StreamingResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Box<dyn Chunks>,
}

/// A stream of bytes. Cancel safe.
#[async_trait]
pub trait Chunks: Send {
    /// The next bytes; none at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable>;
}

#[async_trait]
impl Chunks for Streamed {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable> {
        Ok(Streamed::chunk(self).await?)
    }
}

impl From<Streamed> for StreamingResponse {
    fn from(streamed: Streamed) -> Self {
        Self { status: streamed.status, headers: streamed.headers.clone(), body: Box::new(streamed) }
    }
}

#[async_trait]
impl Streaming for Fetcher {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        Ok(Fetcher::open(self, request).await?.into())
    }
}

/// A transport that also speaks plain http to loopback addresses and `localhost`. Naming this type is the explicit
/// choice: without it an `http:` service cannot be reached.
pub struct WithLoopback(pub Fetcher);

impl WithLoopback {
    /// With the system's trusted certificates, for everything that is not loopback.
    pub fn for_this_machine() -> Result<Self, countersign_outbound::tls::BadRoots> {
        Fetcher::new(countersign_outbound::FetcherConfig::default()).map(Self)
    }
}

#[async_trait]
impl Transport for WithLoopback {
    async fn send(&self, request: Request) -> Result<Response, Unreachable> {
        if !request.url.starts_with("http://") {
            return self.0.send(request).await;
        }
        let (cap, limit) = (request.answer_cap, request.time_limit.unwrap_or(TIME_LIMIT));
        let whole = async { Ok(self.begin(request).await?.whole(cap).await?) };
        tokio::time::timeout(limit, whole).await.unwrap_or(Err(FetchError::TimedOut.into()))
    }
}

impl WithLoopback {
    /// Sends in plain http to the local machine, and reads the head of the response.
    async fn begin(&self, request: Request) -> Result<Streamed, Unreachable> {
        let url = Url::parse(&request.url).map_err(|_| Unreachable::NotLoopback)?;
        let address = loopback_address(&url).ok_or(Unreachable::NotLoopback)?;
        let stream = dial(address).await.map_err(|_| FetchError::Connect)?;
        Ok(exchange::begin(stream, to_http(&url, request)?).await?)
    }
}

#[async_trait]
impl Streaming for WithLoopback {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        if !request.url.starts_with("http://") {
            return Streaming::open(&self.0, request).await;
        }
        Ok(self.begin(request).await?.into())
    }
}

/// Nothing is resolved: a name other than `localhost` could lead anywhere.
fn loopback_address(url: &Url) -> Option<SocketAddr> {
    let ip = match url.host()? {
        Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Host::Domain(_) => return None,
        Host::Ipv4(ip) => IpAddr::V4(ip),
        Host::Ipv6(ip) => IpAddr::V6(ip),
    };
    ip.is_loopback().then(|| SocketAddr::new(ip, url.port().unwrap_or(80)))
}

fn to_http(url: &Url, request: Request) -> Result<http::Request<Full<Bytes>>, FetchError> {
    let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let mut out = http::Request::new(Full::new(request.body));
    *out.method_mut() = request.method;
    *out.uri_mut() = target.parse().map_err(|_| FetchError::Http)?;
    *out.headers_mut() = request.headers;
    let host = HeaderValue::from_str(url.authority()).map_err(|_| FetchError::Http)?;
    out.headers_mut().insert(header::HOST, host);
    Ok(out)
}

#[expect(clippy::disallowed_methods, reason = "to a loopback address that was judged just before, and only here")]
async fn dial(address: SocketAddr) -> std::io::Result<TcpStream> {
    TcpStream::connect(address).await
}
