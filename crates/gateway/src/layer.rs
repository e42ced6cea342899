//! A `tower` layer: every request of the service inside is a call that the engine has let through.

mod inner;

use crate::{
    answer,
    call::read_call,
    complete::{self, MAX_BODY_BYTES},
    headers,
    proxy::{Passage, Pumping, answered, pump, whole_body},
    refusal::presented_scheme,
    request_ids::RequestIds,
};
use bytes::Bytes;
use countersign_engine::{Address, Became, Decided, Engine, Grant, Held, Refusal};
use countersign_protocol::project::Stream;
use futures_util::{future::BoxFuture, poll};
use http::{HeaderName, HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::Body;
pub(crate) use inner::Inner;
use std::{
    error::Error,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Layer, Service};
use tracing::Instrument as _;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
pub type BoxBody = UnsyncBoxBody<Bytes, BoxError>;

/// How long the next piece of a body that must be complete may take.
const BODY_PACE: Duration = Duration::from_secs(30);

/// Who is calling, for the service inside: verified, never what the client said about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub operator: String,
    /// The person for whom the agent acts; none at T1.
    pub acting_for: Option<String>,
    pub session_id: String,
    pub action: String,
    pub route: String,
}

/// Puts the engine in front of a service.
#[derive(Clone)]
pub struct CountersignLayer {
    engine: Arc<Engine>,
    address: Address,
    /// The public origin of the service inside.
    origin: Arc<str>,
    request_ids: Arc<RequestIds>,
    streams: TaskTracker,
}

impl CountersignLayer {
    /// Calls are decided by the routes of the project at `address`. Their origin is the engine's own.
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
        // The inner service is asked for readiness once a permit exists.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let (inner, point) = (Inner(self.inner.clone()), self.point.clone());
        Box::pin(async move {
            let request_id = point.request_ids.mint();
            let span = tracing::info_span!("call", request_id);
            let (method, scheme) = (request.method().clone(), presented_scheme(request.headers()));
            let answered = point.run(inner, request).instrument(span.clone()).await;
            let told = |refusal| answer::told(&refusal, &request_id, scheme).map(boxed);
            let mut response = answered.unwrap_or_else(told);
            let nonce = point.engine.nonce_for_calls(&point.address).await;
            answer::mark(response.headers_mut(), &request_id, nonce);
            // Paths of the service inside may say whose data they lead to, so they are not logged.
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
        let (parts, body) = request.into_parts();
        let call = read_call(&parts, &self.origin)?;
        let waits = call.wait_s.is_some_and(|seconds| seconds > 0);
        let request = Request::from_parts(parts, body);
        match self.engine.decide(&self.address, call).await? {
            Decided::Speculative(permit) => {
                let passage = Passage::Read(permit);
                self.clone().hand_on(inner, present(request, passage.grant())?, passage).await
            }
            // A caller that hangs up must not leave a write without its outcome.
            Decided::CommitFirst(undertaking) => {
                let request = present(request, undertaking.grant())?;
                let point = self.clone();
                let writing = async move {
                    let passage = Passage::begin(&point.engine, *undertaking).await?;
                    point.hand_on(inner, request, passage).await
                };
                tokio::spawn(writing.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
            }
            Decided::Held(held) if waits => self.clone().hold(inner, request, *held).await,
            Decided::Held(held) => {
                let holding = self.clone().hold(inner, request, *held);
                tokio::spawn(holding.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
            }
        }
    }

    /// Reads the request completely, has it confirmed, and hands on exactly that.
    async fn hold<S, In, Out>(
        self,
        inner: Inner<S>,
        request: Request<In>,
        held: Held,
    ) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError> + Send,
        In: Body<Data = Bytes> + From<Bytes> + Send + Unpin + 'static,
        Out: Body<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let (mut parts, body) = request.into_parts();
        let route = held.call().route();
        let body = whole_body(body, route.max_body_bytes.unwrap_or(MAX_BODY_BYTES), BODY_PACE).await?;
        let complete = complete::complete(&parts, &self.origin, route, &body)?;
        let permit = self.engine.hold(held, complete.clone()).await?;
        let head = complete::head_of(&complete);
        let (Ok((_, _, passed)), true) = (head, permit.covers(&complete)) else {
            tracing::error!("what was about to be handed on is not what was confirmed");
            self.engine.settle_write(permit, &Became::NotSent("it was not what was confirmed")).await?;
            return Err(Refusal::Internal);
        };
        parts.headers = passed;
        parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(complete.body.len()));
        parts.extensions.insert(caller(permit.grant()));
        let request = Request::from_parts(parts, In::from(Bytes::from(complete.body)));
        let handing = self.hand_on(inner, request, Passage::Write(Box::new(permit)));
        tokio::spawn(handing.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
    }

    /// The answer is held back until its record is durable, and dropped if the caller was cut off meanwhile.
    async fn hand_on<S, In, Out>(
        self,
        inner: Inner<S>,
        request: Request<In>,
        mut passage: Passage,
    ) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>>,
        S::Error: Into<BoxError>,
        Out: Body<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let answer = {
            let mut asking = pin!(inner.ask(request));
            let first = poll!(asking.as_mut());
            passage.handed_on();
            match first {
                Poll::Ready(answer) => answer,
                Poll::Pending => self.wait(&mut passage, asking).await,
            }
        };
        let became = match &answer {
            Ok(response) => answered(response.status(), response.body().size_hint().exact()),
            Err(_) => Became::Lost("the service behind failed"),
        };
        let streams = answer.is_ok() && passage.grant().route().stream == Some(Stream::Events);
        let watch = streams.then(|| passage.watch());
        let egress = passage.settle(&self.engine, &became).await?;
        let response = answer?;
        if egress.is_none() && watch.is_none() {
            return Ok(response);
        }
        let pumping = Pumping { engine: self.engine, egress, watch, stopping: CancellationToken::new() };
        Ok(response.map(|body| pump(body, pumping, &self.streams).map_err(Into::into).boxed_unsync()))
    }

    /// Keeps the lease of a claim alive while the service inside works.
    async fn wait<T>(&self, passage: &mut Passage, mut asking: std::pin::Pin<&mut impl Future<Output = T>>) -> T {
        let Some(renew_every) = passage.renew_every() else { return asking.await };
        loop {
            tokio::select! {
                answer = &mut asking => return answer,
                () = tokio::time::sleep(renew_every) => passage.renew(&self.engine).await,
            }
        }
    }
}

/// Takes the client's credentials and claims away and puts in what was verified.
fn present<In>(mut request: Request<In>, grant: &Grant) -> Result<Request<In>, Refusal> {
    if grant.route().stream == Some(Stream::Websocket) {
        // From here nobody could cut it.
        return Err(Refusal::invalid("WebSockets are only served through the proxy"));
    }
    let headers = request.headers_mut();
    let taken: Vec<HeaderName> = headers.keys().filter(|name| is_taken_away(name)).cloned().collect();
    for name in taken {
        headers.remove(name);
    }
    request.extensions_mut().insert(caller(grant));
    Ok(request)
}

fn caller(grant: &Grant) -> Caller {
    Caller {
        operator: grant.operator().to_owned(),
        acting_for: grant.subject().map(str::to_owned),
        session_id: grant.session_id().to_owned(),
        action: grant.action().to_owned(),
        route: grant.route().id.clone(),
    }
}

/// Credentials, what agents say of themselves, and whatever would make the upstream do another thing than the
/// one that was decided. The intent type stays: it was checked.
fn is_taken_away(name: &HeaderName) -> bool {
    let name = name.as_str();
    let said = name.starts_with("x-agent-") && name != "x-agent-intent-type";
    matches!(name, "authorization" | "dpop") || headers::is_method_override(name) || said
}
