//! One HTTP/1.1 exchange over one connection, which ends with it. The response is read to the end, or as a stream.

use crate::{
    fetch::FetchError,
    target::{BadUrl, OutboundTarget},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
};

/// Maximum size of a manifest, key set or registry in bytes (C-68).
pub const DOCUMENT_CAP: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Maximum size of the response body in bytes.
    pub answer_cap: usize,
    /// Overrides the client's own limit for the whole exchange, for a long poll.
    pub time_limit: Option<Duration>,
}

impl Request {
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url.into(), Bytes::new())
    }

    pub fn post_json(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let mut request = Self::new(Method::POST, url.into(), body.into());
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request
    }

    pub fn new(method: Method, url: String, body: Bytes) -> Self {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/json"))]);
        Self { method, url, headers, body, answer_cap: DOCUMENT_CAP, time_limit: None }
    }
}

#[derive(Clone, Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Response {
    /// Labelled `application/json` or with a type that ends in `+json`, with or without parameters.
    pub fn is_json(&self) -> bool {
        let label = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = label.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json")
    }
}

/// A streaming response: its head has arrived, its body is read as it comes.
pub struct Streamed {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
    /// Dropping it closes the connection.
    _driver: JoinSet<hyper::Result<()>>,
}

impl Streamed {
    /// The next bytes; `None` at the end. The caller sets the time limit.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.map_err(|_| FetchError::Http)?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body, if it is not longer than `cap`.
    pub async fn whole(self, cap: usize) -> Result<Response, FetchError> {
        let Self { status, headers, body, _driver } = self;
        let too_large = FetchError::TooLarge { cap, status: status.as_u16() };
        let body = Limited::new(body, cap).collect().await.map_err(|e| broken_body(&*e, too_large))?.to_bytes();
        Ok(Response { status, headers, body })
    }
}

/// Sends a request over an open connection, and reads the head of the response.
pub async fn begin<S>(stream: S, request: http::Request<Full<Bytes>>) -> Result<Streamed, FetchError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(DOCUMENT_CAP)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| FetchError::Http)?;
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let answer = sender.send_request(request).await.map_err(|_| FetchError::Http)?;
    let (head, body) = answer.into_parts();
    Ok(Streamed { status: head.status, headers: head.headers, body, _driver: driver })
}

pub(crate) fn to_http(target: &OutboundTarget, request: Request) -> Result<http::Request<Full<Bytes>>, FetchError> {
    let host = HeaderValue::from_str(&target.authority).map_err(|_| BadUrl::NotAHostname)?;
    let mut out = http::Request::new(Full::new(request.body));
    *out.method_mut() = request.method;
    *out.uri_mut() = target.path_and_query.parse().map_err(|_| BadUrl::NotAUrl)?;
    *out.headers_mut() = request.headers;
    out.headers_mut().insert(header::HOST, host);
    Ok(out)
}

fn broken_body(error: &(dyn std::error::Error + Send + Sync + 'static), too_large: FetchError) -> FetchError {
    if error.is::<LengthLimitError>() { too_large } else { FetchError::Http }
}
