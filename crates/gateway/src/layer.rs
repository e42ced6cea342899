//! A `tower` layer: the inner service gets only calls that the engine permitted.

use crate::{
    call::read_call,
    complete::{self, MAX_BODY_BYTES},
    dry_run::{self, preview_response},
    headers::{self, MAX_SUBJECT_BODY},
    proxy::{Pumping, pump, whole_body},
    queued::queued_response,
    refusal::{envelope, presented_scheme},
    request_ids::RequestIds,
};
use async_trait::async_trait;
use bytes::Bytes;
use countersign_engine::{
    Address, BEGINNING_BYTES, BodyDigest, Call, CallFacts, CarriedOut, Connect, Engine, HttpRequest, Mode, Permit,
    ReadWrite, Refusal, SendRight, Settled, UpstreamError, UpstreamExchange, UpstreamOutcome, data_subjects_of_body,
    held::route_window_s,
};
use countersign_protocol::{
    aap::version,
    hash::Digest,
    project::{DataSubjectSource, RouteStream},
};
use futures_util::{FutureExt as _, future::BoxFuture, poll};
use http::{HeaderName, HeaderValue, Request, Response, header, request::Parts};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::Body;
use std::{
    error::Error,
    net::IpAddr,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Layer, Service, ServiceExt as _};
use tracing::Instrument as _;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
pub type BoxBody = UnsyncBoxBody<Bytes, BoxError>;

/// The longest pause between two pieces of a body that must be complete.
const BODY_PACE: Duration = Duration::from_secs(30);
/// A body of at most this many bytes is read before it is handed on, so that repeats of it are recognised.
const READ_AT_ONCE: u64 = 64 * 1024;

/// The verified caller, for the inner service; never the client's own claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedCaller {
    pub operator: String,
    /// The person for whom the agent acts; none at T1 and for a service account.
    pub acting_for: Option<String>,
    /// The service account, if it is one.
    pub account_id: Option<String>,
    pub session_id: String,
    pub action: String,
    pub route: String,
}

/// The caller's address, as a request extension from the application around the layer; the layer itself sees no connection.
/// Without it, simultaneous use from two networks is not recognised here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// Puts the engine in front of a service.
#[derive(Clone)]
pub struct CountersignLayer {
    engine: Arc<Engine>,
    address: Address,
    /// The public origin of the inner service.
    origin: Arc<str>,
    request_ids: Arc<RequestIds>,
    streams: TaskTracker,
}

impl CountersignLayer {
    /// Decides calls by the routes of the project at `address`. Their origin is the engine's own.
    pub fn new(engine: Arc<Engine>, address: Address) -> Self {
        let run = engine.now().0.unsigned_abs();
        let own = &engine.settings().origin;
        let origin = match &address {
            Address::Subdomain(id) => own.with_subdomain(id).as_str().into(),
            _ => own.as_str().into(),
        };
        Self { engine, address, origin, request_ids: Arc::new(RequestIds::new(run)), streams: TaskTracker::new() }
    }

    /// The same for a service that agents reach at another origin than the engine's.
    #[must_use]
    pub fn with_origin(self, origin: &countersign_protocol::origin::Origin) -> Self {
        Self { origin: origin.as_str().into(), ..self }
    }
}

impl<S> Layer<S> for CountersignLayer {
    type Service = CountersignService<S>;
    fn layer(&self, inner: S) -> CountersignService<S> {
        CountersignService { inner, point: self.clone() }
    }
}

#[derive(Clone)]
pub struct CountersignService<S> {
    inner: S,
    point: CountersignLayer,
}

impl<S, In, Out> Service<Request<In>> for CountersignService<S>
where
    S: Service<Request<In>, Response = Response<Out>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    In: Body<Data = Bytes> + From<Bytes> + Send + Unpin + 'static,
    In::Error: Send,
    Out: Body<Data = Bytes> + Send + 'static,
    Out::Error: Into<BoxError>,
{
    type Response = Response<BoxBody>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<BoxBody>, S::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        // The inner service is polled for readiness once a permit exists.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let (inner, point) = (Inner(self.inner.clone()), self.point.clone());
        Box::pin(async move {
            let request_id = point.request_ids.mint();
            let span = tracing::info_span!("call", request_id);
            let (method, scheme) = (request.method().clone(), presented_scheme(request.headers()));
            let served = headers::version_served(request.headers(), version::ACCEPTED);
            let answered = point.run(inner, request).instrument(span.clone()).await;
            let refused = |refusal| envelope(&refusal, &request_id, scheme).map(|body| boxed(body.into()));
            let mut response = answered.unwrap_or_else(refused);
            let nonce = point.engine.calls().nonce_for_calls(&point.address).await;
            headers::add_response_headers(response.headers_mut(), &request_id, served, nonce);
            // Paths of the inner service may identify people, so they are not logged.
            span.in_scope(|| tracing::info!(%method, status = response.status().as_u16(), "answered"));
            Ok(response)
        })
    }
}

fn boxed(bytes: Bytes) -> BoxBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

impl CountersignLayer {
    async fn run<S, In, Out>(&self, inner: Inner<S>, request: Request<In>) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError> + Send,
        In: Body<Data = Bytes> + From<Bytes> + Send + Unpin + 'static,
        In::Error: Send,
        Out: Body<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let (mut parts, body) = request.into_parts();
        let client = parts.extensions.get::<ClientAddress>().map(|client| client.0);
        let call = Call { client, ..read_call(&mut parts, &self.origin)? };
        let exchange = LayerExchange {
            inner: Some(inner),
            request: Some(Request::from_parts(parts, body)),
            head: None,
            origin: Arc::clone(&self.origin),
        };
        let settled = match Box::pin(self.engine.calls().carry_out(&self.address, call, exchange)).await? {
            CarriedOut::Settled(settled) => *settled,
            CarriedOut::Queued(queued) => return queued_response(&queued).map(|answer| answer.map(boxed)),
            CarriedOut::Previewed(preview) => return preview_response(&preview).map(|answer| answer.map(boxed)),
        };
        let Settled { mut answer, egress, watch, unsettled_call, dry_run, undo } = settled;
        headers::add_call_id(answer.headers_mut(), unsettled_call.as_deref());
        headers::add_undo(answer.headers_mut(), undo.as_ref());
        if dry_run {
            dry_run::mark(answer.headers_mut());
        }
        if egress.is_none() && watch.is_none() {
            return Ok(answer);
        }
        let engine = Arc::clone(&self.engine);
        let pumping = Pumping { engine, egress, watch, stopping: CancellationToken::new() };
        Ok(answer.map(|body| pump(body, pumping, &self.streams).map_err(Into::into).boxed_unsync()))
    }
}

/// The inner service, for one call.
struct Inner<S>(S);

impl<S> Inner<S> {
    async fn call_once<In, Out>(self, request: Request<In>) -> Result<Response<BoxBody>, UpstreamError>
    where
        S: Service<Request<In>, Response = Response<Out>>,
        S::Error: Into<BoxError>,
        Out: Body<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        // A panic is caught, so that the interrupted call gets an outcome in the record too.
        let why = match AssertUnwindSafe(self.0.oneshot(request)).catch_unwind().await {
            Ok(Ok(response)) => return Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
            Ok(Err(why)) => why.into().to_string(),
            Err(_panic) => "it panicked".to_owned(),
        };
        tracing::error!(why, "the upstream service failed");
        Err(UpstreamError::ConnectionLost("the upstream failed"))
    }
}

/// The layer's side of one call.
struct LayerExchange<S, In> {
    inner: Option<Inner<S>>,
    request: Option<Request<In>>,
    /// The head of a request that was read completely.
    head: Option<Parts>,
    origin: Arc<str>,
}

#[async_trait]
impl<S: Send, In: Send> Connect for LayerExchange<S, In> {
    /// The inner service needs no connection.
    async fn connect(&mut self, _: &CallFacts) -> Result<(), UpstreamError> {
        Ok(())
    }
}

impl<S, In, Out> UpstreamExchange for LayerExchange<S, In>
where
    S: Service<Request<In>, Response = Response<Out>> + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    In: Body<Data = Bytes> + From<Bytes> + Send + Unpin + 'static,
    In::Error: Send,
    Out: Body<Data = Bytes> + Send + 'static,
    Out::Error: Into<BoxError>,
{
    type Answer = Response<BoxBody>;

    async fn read(&mut self, facts: &CallFacts) -> Result<(), Refusal> {
        if facts.route().stream == Some(RouteStream::Websocket) {
            // The layer could not cut an open WebSocket.
            return Err(Refusal::invalid("WebSockets are only served through the proxy"));
        }
        self.request = self.request.take().map(|request| present(request, facts)).transpose()?;
        Ok(())
    }

    /// A body cannot be hashed while it passes here, so a longer one is described by its head and length until it is read.
    async fn describe(&mut self, facts: &CallFacts, whole: bool) -> Result<(ReadWrite, BodyDigest), Refusal> {
        let (parts, body) = self.request.take().ok_or(Refusal::Internal)?.into_parts();
        let passed = headers::forwarded(&parts.headers, facts.route());
        let head = complete::head_of_write(&parts.method, &parts.uri, &self.origin, &passed);
        let length = body.size_hint().exact();
        let max = facts.route().max_body_bytes.unwrap_or(MAX_BODY_BYTES);
        if !whole && length.is_none_or(|length| length > READ_AT_ONCE.min(max)) {
            self.request = Some(Request::from_parts(parts, body));
            return Ok((ReadWrite { head, beginning: None, length, body: None }, BodyDigest::default()));
        }
        let bytes = match whole_body(body, max, BODY_PACE).await {
            // The body is consumed and cannot be handed on, so the write counts as a repeat.
            Err(Refusal::BodyTooLarge { .. }) if whole => {
                return Ok((ReadWrite { head, beginning: None, length, body: None }, BodyDigest::default()));
            }
            read => read?,
        };
        let (beginning, body) = (bytes.get(..BEGINNING_BYTES).unwrap_or(&bytes), Digest::of(&bytes));
        let write = ReadWrite { head, beginning: Some(Digest::of(beginning)), length, body: Some(body) };
        self.request = Some(Request::from_parts(parts, In::from(bytes)));
        Ok((write, BodyDigest::known(body)))
    }

    async fn read_whole(&mut self, facts: &CallFacts) -> Result<HttpRequest, Refusal> {
        if route_window_s(&facts.project().document, facts.route()) > 0 {
            // Nothing could hand the call to the inner service when its window has closed, and nothing could undo it.
            return Err(Refusal::invalid("calls with an undo window are only served through the proxy"));
        }
        let (parts, body) = self.request.take().ok_or(Refusal::Internal)?.into_parts();
        let max = facts.route().max_body_bytes.unwrap_or(MAX_BODY_BYTES);
        let body = whole_body(body, max, BODY_PACE).await?;
        let complete = complete::complete(&parts, &self.origin, facts.route(), &body)?;
        self.head = Some(parts);
        Ok(complete)
    }

    async fn send(
        &mut self,
        permit: &mut Permit,
        approved: Option<HttpRequest>,
    ) -> Result<Response<BoxBody>, UpstreamError> {
        let request = match (approved, self.head.take()) {
            (Some(approved), Some(head)) => approved_request(head, approved, permit.facts())?,
            _ => self.request.take().ok_or(UpstreamError::NotSent("nothing was read"))?,
        };
        if !dry_run::is_marked_as_decided(permit.facts(), request.uri(), request.headers()) {
            return Err(UpstreamError::NotSent("it differed from the authorized request"));
        }
        let inner = self.inner.take().ok_or(UpstreamError::NotSent("it was sent already"))?;
        let mut asking = pin!(inner.call_once(request));
        let right = permit.send_right();
        let piece = right.as_ref().map(SendRight::begin_piece);
        if matches!(piece, Some(None)) {
            return Err(UpstreamError::NotSent("its send right ended"));
        }
        let first = poll!(asking.as_mut());
        drop(piece);
        permit.mark_sent();
        match first {
            Poll::Ready(answer) => answer,
            Poll::Pending => await_response(permit, asking).await,
        }
    }

    fn outcome(&self, answer: &Response<BoxBody>) -> UpstreamOutcome {
        headers::outcome(answer.status(), answer.headers(), answer.body().size_hint().exact())
    }

    async fn data_subjects(
        &mut self,
        source: &DataSubjectSource,
        answer: Response<BoxBody>,
    ) -> Result<(Response<BoxBody>, Vec<String>), UpstreamError> {
        let Some(member) = &source.member else {
            let subjects = headers::data_subjects(answer.headers(), source);
            return Ok((answer, subjects));
        };
        let (parts, body) = answer.into_parts();
        let unread = |_| UpstreamError::ConnectionLost("the response could not be read to say whose data it touched");
        let bytes = whole_body(body, MAX_SUBJECT_BODY as u64, BODY_PACE).await.map_err(unread)?;
        let subjects = data_subjects_of_body(&bytes, member);
        let body = Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        Ok((Response::from_parts(parts, body), subjects))
    }

    fn streams(&self, facts: &CallFacts, _: &Response<BoxBody>) -> bool {
        facts.route().stream == Some(RouteStream::Events)
    }
}

/// Exactly the approved request, for the inner service.
fn approved_request<In: From<Bytes>>(
    mut head: Parts,
    approved: HttpRequest,
    facts: &CallFacts,
) -> Result<Request<In>, UpstreamError> {
    let not_sent = |_| UpstreamError::NotSent("it cannot be handed on as it was approved");
    (_, _, head.headers) = complete::head_of(&approved).map_err(not_sent)?;
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(approved.body.len()));
    head.extensions.insert(caller(facts));
    Ok(Request::from_parts(head, In::from(Bytes::from(approved.body))))
}

/// Renews the lease of a claim while the inner service works.
async fn await_response<T>(permit: &mut Permit, mut asking: std::pin::Pin<&mut impl Future<Output = T>>) -> T {
    let Some(renew_every) = permit.renew_every() else { return asking.await };
    loop {
        tokio::select! {
            answer = &mut asking => return answer,
            () = tokio::time::sleep(renew_every) => permit.renew().await,
        }
    }
}

/// Replaces the client's credentials and claims by verified facts.
fn present<In>(request: Request<In>, facts: &CallFacts) -> Result<Request<In>, Refusal> {
    let (mut head, body) = request.into_parts();
    let headers = &mut head.headers;
    let taken: Vec<HeaderName> = headers.keys().filter(|name| is_stripped(name)).cloned().collect();
    for name in taken {
        headers.remove(name);
    }
    dry_run::add(facts, &mut head.uri, &mut head.headers)?;
    head.extensions.insert(caller(facts));
    Ok(Request::from_parts(head, body))
}

fn caller(facts: &CallFacts) -> VerifiedCaller {
    VerifiedCaller {
        operator: facts.operator().to_owned(),
        acting_for: facts.subject().filter(|_| facts.mode() == Mode::UserDelegated).map(str::to_owned),
        account_id: facts.subject().filter(|_| facts.mode() == Mode::ServiceAccount).map(str::to_owned),
        session_id: facts.session_id().to_owned(),
        action: facts.action().to_owned(),
        route: facts.route().id.clone(),
    }
}

/// Credentials, claims of agents about themselves, and headers that would make the upstream do something else than was
/// decided. The intent type stays: it was checked.
fn is_stripped(name: &HeaderName) -> bool {
    let name = name.as_str();
    let said = name.starts_with("x-agent-") && name != "x-agent-intent-type";
    matches!(name, "authorization" | "dpop") || headers::is_method_override(name) || said
}
