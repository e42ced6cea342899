//! From a request to its answer: decided, held where a person must say yes, forwarded with a permit, recorded, told.

use super::{
    Shared,
    bodies::{Arriving, FromUpstream, ToCaller, ToUpstream},
    collect,
    exchange::{Sealed, Way},
    guard::Turn,
    host,
    passage::{OnItsWay, Passage, answered},
    pump::{Pumping, pump},
    websocket,
};
use crate::{
    answer,
    call::read_call,
    complete::{self, MAX_BODY_BYTES},
    headers,
    refusal::presented_scheme,
    unread::watch,
};
use bytes::Bytes;
use countersign_engine::{
    Address, Became, Call, Decided, Egress, Grant, Held, HttpRequest, Permit, ReadPermit, Refusal, Undertaking, Watch,
};
use countersign_protocol::project::Stream;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header, request::Parts};
use hyper::{
    body::{Body as _, Incoming},
    upgrade::OnUpgrade,
};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument as _;

/// What no route may be: paths that the gateway itself answers.
const RESERVED: &str = "/.countersign";

/// Answers one request. Whatever goes wrong is told in the envelope.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    refused: Option<Refusal>,
    turn: Turn,
    place: Arc<OwnedSemaphorePermit>,
) -> Response<ToCaller> {
    let request_id = shared.request_ids.mint();
    let span = tracing::info_span!("call", request_id);
    let (method, scheme) = (request.method().clone(), presented_scheme(request.headers()));
    let (mut request, unread) = watch(request);
    // What follows a request for another protocol is not looked at as HTTP, so the connection ends with it.
    let last = refused.is_some() || request.headers().contains_key(header::UPGRADE);
    let on_upgrade = hyper::upgrade::on(&mut request);
    let mut at = None;
    let answered = async {
        refused.map_or(Ok(()), Err)?;
        let (parts, body) = request.into_parts();
        let (address, origin) = host::addressed(&shared.settings, &parts.headers, &parts.uri)?;
        let origin = origin.into_owned();
        let address = &*at.insert(address);
        Arrived { shared: Arc::clone(&shared), parts, body, origin, on_upgrade, place }.run(address).await
    };
    let answered = answered.instrument(span.clone()).await;
    let mut response = match answered {
        Ok(response) => response,
        Err(refusal) => {
            let mut response = answer::told(&refusal, &request_id, scheme).map(ToCaller::whole);
            if !last {
                unread.settle(&mut response).await;
            }
            response
        }
    };
    let nonce = match &at {
        Some(address) => shared.engine.nonce_for_calls(address).await,
        None => None,
    };
    answer::mark(response.headers_mut(), &request_id, nonce);
    if last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.body_mut().turn = Some(turn);
    // Paths may say whose data they lead to, so they are not logged.
    span.in_scope(|| tracing::info!(%method, status = response.status().as_u16(), "answered"));
    response
}

/// A request that is about to be decided.
struct Arrived {
    shared: Arc<Shared>,
    parts: Parts,
    body: Arriving,
    /// The public origin at which it arrived, as configured.
    origin: String,
    on_upgrade: OnUpgrade,
    place: Arc<OwnedSemaphorePermit>,
}

impl Arrived {
    async fn run(self, address: &Address) -> Result<Response<ToCaller>, Refusal> {
        let call = read_call(&self.parts, &self.origin)?;
        if let Some(rest) = self.parts.uri.path().strip_prefix(RESERVED)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return self.redeem(address, call).await;
        }
        let waits = call.wait_s.is_some_and(|seconds| seconds > 0);
        match self.shared.engine.decide(address, call).await? {
            Decided::Speculative(permit) => self.read(*permit).await,
            Decided::CommitFirst(undertaking) => self.commit_first(*undertaking).await,
            Decided::Held(held) => self.hold(*held, waits).await,
        }
    }

    /// Forwarded at once; the first byte of its answer leaves when its entry is durable.
    async fn read(self, permit: ReadPermit) -> Result<Response<ToCaller>, Refusal> {
        let passage = Passage::Read(Box::new(permit));
        let ready = async {
            let way = Way::of(&self.shared, passage.grant()).map_err(|mishap| (mishap.refusal(), mishap.became()))?;
            let opens = opens_websocket(&self.parts, passage.grant()).map_err(with_nothing_sent)?;
            Ok::<_, (Refusal, Became)>((way, opens))
        };
        let (way, opens) = match ready.await {
            Ok(ready) => ready,
            Err((refusal, became)) => {
                // It was decided, so it stands in the audit.
                passage.settle(&self.shared.engine, &became).await?;
                return Err(refusal);
            }
        };
        if opens {
            return websocket::open(self.shared, passage, way, self.parts, self.on_upgrade, self.place).await;
        }
        let shared = Arc::clone(&self.shared);
        match self.seal(passage.grant()).await {
            Ok((shared, sealed)) => forward(shared, passage, way, sealed).await,
            Err(refusal) => {
                passage.settle(&shared.engine, &Became::NotSent("the request did not arrive as it should")).await?;
                Err(refusal)
            }
        }
    }

    /// Its intent is durable before it is forwarded, and a caller that hangs up does not leave it without an outcome.
    async fn commit_first(self, undertaking: Undertaking) -> Result<Response<ToCaller>, Refusal> {
        let ready = Way::of(&self.shared, undertaking.grant())
            .map_err(|mishap| mishap.refusal())
            .and_then(|way| Ok((way, opens_websocket(&self.parts, undertaking.grant())?)));
        let (way, opens) = match ready {
            Ok(ready) => ready,
            Err(refusal) => return Err(self.shared.engine.turn_away(&undertaking, refusal).await),
        };
        if opens {
            let passage = Passage::begin(&self.shared.engine, undertaking).await?;
            return websocket::open(self.shared, passage, way, self.parts, self.on_upgrade, self.place).await;
        }
        let shared = Arc::clone(&self.shared);
        let (shared, sealed) = match self.seal(undertaking.grant()).await {
            Ok(sealed) => sealed,
            Err(refusal) => return Err(shared.engine.turn_away(&undertaking, refusal).await),
        };
        let tasks = shared.under_way.clone();
        let writing = async move {
            let passage = Passage::begin(&shared.engine, undertaking).await?;
            forward(shared, passage, way, sealed).await
        };
        tasks.spawn(writing.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
    }

    /// Read completely, shown to a person, and sent only as it was shown.
    async fn hold(self, held: Held, waits: bool) -> Result<Response<ToCaller>, Refusal> {
        let Self { shared, parts, body, origin, .. } = self;
        let complete = async {
            let grant = held.call();
            let way = Way::of(&shared, grant).map_err(|mishap| mishap.refusal())?;
            if parts.headers.contains_key(header::UPGRADE) {
                return Err(no_upgrade());
            }
            let max = grant.route().max_body_bytes.unwrap_or(MAX_BODY_BYTES);
            let body = collect::whole(body, max, shared.settings.body_timeout).await?;
            Ok((way, complete::complete(&parts, &origin, grant.route(), &body)?))
        };
        let (way, request) = match complete.await {
            Ok(complete) => complete,
            Err(refusal) => return Err(shared.engine.turn_held_away(&held, refusal).await),
        };
        if waits {
            // Whoever hangs up while nobody has answered yet does not want it to run.
            let permit = shared.engine.hold(held, request.clone()).await?;
            return forward_held(shared, permit, way, request).await;
        }
        let tasks = shared.under_way.clone();
        let holding = async move {
            let permit = shared.engine.hold(held, request.clone()).await?;
            forward_held(shared, permit, way, request).await
        };
        tasks.spawn(holding.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
    }

    /// `POST /.countersign/decisions/{id}/redeem`: runs the request that was kept with a decision.
    async fn redeem(self, address: &Address, call: Call) -> Result<Response<ToCaller>, Refusal> {
        let path = self.parts.uri.path().strip_prefix(RESERVED).unwrap_or_default();
        let id = path.strip_prefix("/decisions/").and_then(|rest| rest.strip_suffix("/redeem"));
        let id = id.filter(|id| !id.is_empty() && !id.contains('/') && self.parts.method == Method::POST);
        let Some(id) = id.map(str::to_owned) else {
            return Err(Refusal::NotFound("there is nothing at this address".into()));
        };
        if !self.body.is_end_stream() || self.parts.headers.contains_key(header::UPGRADE) {
            return Err(Refusal::invalid("a decision is redeemed without a body"));
        }
        let (shared, address) = (self.shared, address.clone());
        let tasks = shared.under_way.clone();
        let redeeming = async move {
            let (permit, request) = shared.engine.redeem(&address, call, &id).await?;
            match Way::of(&shared, permit.grant()) {
                Ok(way) => forward_held(shared, permit, way, request).await,
                Err(mishap) => {
                    shared.engine.settle_write(permit, &mishap.became()).await?;
                    Err(mishap.refusal())
                }
            }
        };
        tasks.spawn(redeeming.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
    }

    /// What the upstream gets of a request that nobody must confirm. A long body is passed on as it arrives.
    async fn seal(self, grant: &Grant) -> Result<(Arc<Shared>, Sealed), Refusal> {
        let Self { shared, parts, body, .. } = self;
        let (route, settings) = (grant.route(), &shared.settings);
        let headers = headers::forwarded(&parts.headers, route);
        let (max, pace) = (route.max_body_bytes, settings.body_timeout);
        let (body, when_sent) = if body.is_end_stream() {
            (ToUpstream::Whole(None), None)
        } else {
            match collect::beginning(body, settings.buffer_limit, max, pace).await? {
                (bytes, None) => (ToUpstream::whole(bytes), None),
                (first, Some(rest)) => {
                    let (body, when_sent) = ToUpstream::rest(first, rest, max, pace);
                    (body, Some(when_sent))
                }
            }
        };
        let sealed =
            Sealed { uri: origin_form(&parts.uri), method: parts.method, headers, body, when_sent, fresh: false };
        Ok((shared, sealed))
    }
}

/// Sends a request that a person confirmed: the very bytes, once, on a connection that nobody used before.
async fn forward_held(
    shared: Arc<Shared>,
    permit: Permit,
    way: Way,
    request: HttpRequest,
) -> Result<Response<ToCaller>, Refusal> {
    let head = complete::head_of(&request);
    // In release builds too: what is not what was confirmed is never sent.
    let (Ok((method, uri, headers)), true) = (head, permit.covers(&request)) else {
        tracing::error!("what was about to be sent is not what was confirmed");
        shared.engine.settle_write(permit, &Became::NotSent("it was not what was confirmed")).await?;
        return Err(Refusal::Internal);
    };
    let body = ToUpstream::whole(Bytes::from(request.body));
    let sealed = Sealed { method, uri, headers, body, when_sent: None, fresh: true };
    let tasks = shared.under_way.clone();
    let forwarding = forward(shared, Passage::Write(Box::new(permit)), way, sealed);
    tasks.spawn(forwarding.in_current_span()).await.map_err(|_| Refusal::OutcomeUnrecorded)?
}

/// Sends, records what became of it, and only then lets the answer go.
async fn forward(
    shared: Arc<Shared>,
    passage: Passage,
    way: Way,
    sealed: Sealed,
) -> Result<Response<ToCaller>, Refusal> {
    let to_head = sealed.method == Method::HEAD;
    let mut on_its_way = OnItsWay::new(&shared, passage);
    let answer = on_its_way.exchange(&way, sealed).await;
    let passage = on_its_way.arrived().ok_or(Refusal::Internal)?;
    let became = match &answer {
        Ok(answer) => answered(answer.status(), answer.body().length()),
        Err(mishap) => mishap.became(),
    };
    let streams = answer.is_ok() && passage.grant().route().stream == Some(Stream::Events);
    let watch = streams.then(|| passage.watch());
    let egress = passage.settle(&shared.engine, &became).await?;
    let answer = answer.map_err(|mishap| mishap.refusal())?;
    Ok(hand_back(&shared, answer, egress, watch, to_head))
}

/// The upstream's answer as the caller gets it.
pub(super) fn hand_back(
    shared: &Shared,
    answer: Response<FromUpstream>,
    egress: Option<Egress>,
    watch: Option<Watch>,
    to_head: bool,
) -> Response<ToCaller> {
    let (mut parts, body) = answer.into_parts();
    headers::clean_answer(&mut parts.headers, to_head);
    parts.version = Version::HTTP_11;
    parts.extensions.clear();
    if egress.is_none() && watch.is_none() {
        return Response::from_parts(parts, ToCaller::passed(body));
    }
    let body = if watch.is_some() { body.without_a_limit() } else { body };
    let pumping = Pumping { engine: Arc::clone(&shared.engine), egress, watch, stopping: shared.stopping.clone() };
    Response::from_parts(parts, ToCaller::pumped(pump(body, pumping, &shared.under_way)))
}

/// Whether the request opens a WebSocket, on a route that is for that and for nothing else.
fn opens_websocket(parts: &Parts, grant: &Grant) -> Result<bool, Refusal> {
    match grant.route().stream {
        Some(Stream::Websocket) if websocket::is_opening(parts)? => Ok(true),
        Some(Stream::Websocket) => Err(Refusal::invalid("only WebSockets can be opened at this address")),
        _ if parts.headers.contains_key(header::UPGRADE) => Err(no_upgrade()),
        _ => Ok(false),
    }
}

fn no_upgrade() -> Refusal {
    Refusal::invalid("this address does not speak another protocol")
}

fn with_nothing_sent(refusal: Refusal) -> (Refusal, Became) {
    (refusal, Became::NotSent("the request was not one for this address"))
}

/// Path and query alone, as requests to an origin have them.
pub(super) fn origin_form(uri: &Uri) -> Uri {
    uri.path_and_query().cloned().map(Uri::from).unwrap_or_default()
}
