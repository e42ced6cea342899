//! A `tower` layer: every request of the service inside is a call that the engine has let through.

use crate::{call::read_call, refusal::envelope, request_ids::RequestIds};
use bytes::Bytes;
use countersign_engine::{Address, Admitted, Call, Engine, Grant, Permit, ReadPermit, Refusal};
use countersign_protocol::aap::version;
use futures_util::{FutureExt as _, future::BoxFuture};
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use std::{
    error::Error,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
};
use tower::{Layer, Service, ServiceExt as _};
use tracing::Instrument as _;

type BoxError = Box<dyn Error + Send + Sync>;
type BoxBody = UnsyncBoxBody<Bytes, BoxError>;

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
    request_ids: Arc<RequestIds>,
}

impl CountersignLayer {
    /// Calls are decided by the routes of the project at `address`.
    pub fn new(engine: Arc<Engine>, address: Address) -> Self {
        let run = engine.now().0.unsigned_abs();
        Self { engine, address, request_ids: Arc::new(RequestIds::new(run)) }
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
    In: Send + 'static,
    Out: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
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
        let (inner, point) = (self.inner.clone(), self.point.clone());
        Box::pin(async move {
            let request_id = point.request_ids.mint();
            let span = tracing::info_span!("call", request_id);
            let method = request.method().clone();
            let answer = point.run(inner, request).instrument(span.clone()).await;
            let mut response = answer.unwrap_or_else(|refusal| told(&refusal, &request_id));
            mark(&mut response, &request_id);
            // Paths of the service inside may say whose data they lead to, so they are not logged.
            span.in_scope(|| tracing::info!(%method, status = response.status().as_u16(), "answered"));
            Ok(response)
        })
    }
}

impl CountersignLayer {
    async fn run<S, In, Out>(self, inner: S, request: Request<In>) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError> + Send,
        In: Send + 'static,
        Out: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        let call: Call = read_call(&parts)?;
        let mut request = Request::from_parts(parts, body);
        let admitted = self.engine.admit(&self.address, call).await?;
        let grant = match &admitted {
            Admitted::Write(permit) => permit.grant(),
            Admitted::Read(permit) => permit.grant(),
        };
        present(&mut request, grant);
        match admitted {
            Admitted::Read(permit) => self.read(inner, request, *permit).await,
            // A caller that hangs up must not leave a write without its outcome.
            Admitted::Write(permit) => {
                tokio::spawn(self.write(inner, request, *permit)).await.map_err(|_| Refusal::OutcomeUnrecorded)?
            }
        }
    }

    /// The answer is held back until its record is durable, and dropped if the caller was cut off meanwhile.
    async fn read<S, In, Out>(
        self,
        inner: S,
        request: Request<In>,
        permit: ReadPermit,
    ) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>>,
        S::Error: Into<BoxError>,
        Out: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let answer = ask(inner, request).await;
        self.engine.settle_read(permit, &outcome(&answer)).await?;
        answer
    }

    async fn write<S, In, Out>(
        self,
        inner: S,
        request: Request<In>,
        mut permit: Permit,
    ) -> Result<Response<BoxBody>, Refusal>
    where
        S: Service<Request<In>, Response = Response<Out>>,
        S::Error: Into<BoxError>,
        Out: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        let mut asking = std::pin::pin!(ask(inner, request));
        let first = futures_util::poll!(asking.as_mut());
        permit.handed_on();
        let answer = match first {
            Poll::Ready(answer) => answer,
            Poll::Pending => asking.await,
        };
        self.engine.settle_write(permit, &outcome(&answer)).await?;
        answer
    }
}

async fn ask<S, In, Out>(inner: S, request: Request<In>) -> Result<Response<BoxBody>, Refusal>
where
    S: Service<Request<In>, Response = Response<Out>>,
    S::Error: Into<BoxError>,
    Out: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
    Out::Error: Into<BoxError>,
{
    // A panic is caught, so that what it broke off has an outcome in the record too.
    let why = match AssertUnwindSafe(inner.oneshot(request)).catch_unwind().await {
        Ok(Ok(response)) => return Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
        Ok(Err(why)) => why.into().to_string(),
        Err(_panic) => "it panicked".to_owned(),
    };
    tracing::error!(why, "the service behind the gateway failed");
    Err(Refusal::UpstreamFailed)
}

/// Takes the client's credentials and claims away and puts in what was verified.
fn present<In>(request: &mut Request<In>, grant: &Grant) {
    let headers = request.headers_mut();
    let taken: Vec<HeaderName> = headers.keys().filter(|name| is_taken_away(name)).cloned().collect();
    for name in taken {
        headers.remove(name);
    }
    request.extensions_mut().insert(Caller {
        operator: grant.operator().to_owned(),
        acting_for: grant.subject().map(str::to_owned),
        session_id: grant.session_id().to_owned(),
        action: grant.action().to_owned(),
        route: grant.route().to_owned(),
    });
}

/// Credentials, what agents say of themselves, and whatever would make the upstream do another thing than the
/// one that was decided. The intent type stays: it was checked.
fn is_taken_away(name: &HeaderName) -> bool {
    let name = name.as_str();
    let method_override = matches!(name, "x-http-method-override" | "x-http-method" | "x-method-override");
    let said = name.starts_with("x-agent-") && name != "x-agent-intent-type";
    matches!(name, "authorization" | "dpop") || method_override || said
}

fn told(refusal: &Refusal, request_id: &str) -> Response<BoxBody> {
    envelope(refusal, request_id).map(|body| Full::from(body).map_err(|never| match never {}).boxed_unsync())
}

fn mark(response: &mut Response<BoxBody>, request_id: &str) {
    let headers = response.headers_mut();
    headers.insert(version::SERVED, HeaderValue::from_static(version::PREFERRED));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", id);
    }
}

/// `201 Created`, as the audit shows it.
fn outcome(answer: &Result<Response<BoxBody>, Refusal>) -> String {
    match answer {
        Ok(response) => {
            let status = response.status();
            format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default()).trim_end().to_owned()
        }
        Err(refusal) => format!("{} {}", refusal.code().status(), refusal.code()),
    }
}
