//! From a request to its response: read it, let the engine carry it out, hand the result back.

use super::{
    ProxyState,
    bodies::{Arriving, FromUpstream, ToCaller},
    exchange::ProxyExchange,
    guard::ResponseTurn,
    host,
    pump::{Pumping, pump},
    websocket,
};
use crate::{
    call::read_call,
    dry_run::{self, preview_response},
    headers,
    network::client_address,
    queued::queued_response,
    refusal::{envelope, presented_scheme},
    unread::watch,
};
use countersign_engine::{Address, Call, CarriedOut, Refusal, Settled};
use countersign_protocol::aap::version;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header, request::Parts};
use hyper::{
    body::{Body as _, Incoming},
    upgrade::OnUpgrade,
};
use std::{net::IpAddr, sync::Arc};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument as _;

/// The path prefix that the gateway itself answers; no route may have it.
const RESERVED: &str = "/.countersign";

/// Answers one request. Every error is answered in the envelope.
pub(super) async fn answer(
    shared: Arc<ProxyState>,
    request: Request<Incoming>,
    refused: Option<Refusal>,
    turn: ResponseTurn,
    (peer, place): (IpAddr, Arc<OwnedSemaphorePermit>),
) -> Response<ToCaller> {
    let request_id = shared.request_ids.mint();
    let span = tracing::info_span!("call", request_id);
    let (method, scheme) = (request.method().clone(), presented_scheme(request.headers()));
    let served = headers::version_served(request.headers(), version::ACCEPTED);
    let (mut request, unread) = watch(request);
    // The bytes after an upgrade request are not read as HTTP, so the connection ends with it.
    let last = refused.is_some() || request.headers().contains_key(header::UPGRADE);
    let on_upgrade = hyper::upgrade::on(&mut request);
    let mut at = None;
    let answered = async {
        refused.map_or(Ok(()), Err)?;
        let (parts, body) = request.into_parts();
        let (address, origin) = host::resolve(&shared.settings, &parts.headers, &parts.uri)?;
        let origin = origin.into_owned();
        let address = &*at.insert(address);
        Arrived { shared: Arc::clone(&shared), parts, body, origin, peer, on_upgrade, place }.run(address).await
    };
    let answered = answered.instrument(span.clone()).await;
    let mut response = match answered {
        Ok(response) => response,
        Err(refusal) => {
            let mut response = envelope(&refusal, &request_id, scheme).map(|body| ToCaller::whole(body.into()));
            if !last {
                unread.settle(&mut response).await;
            }
            response
        }
    };
    let nonce = match &at {
        Some(address) => shared.engine.calls().nonce_for_calls(address).await,
        None => None,
    };
    headers::add_response_headers(response.headers_mut(), &request_id, served, nonce);
    if last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.body_mut().turn = Some(turn);
    // Paths may identify people, so they are not logged.
    span.in_scope(|| tracing::info!(%method, status = response.status().as_u16(), "answered"));
    response
}

/// A request about to be decided.
struct Arrived {
    shared: Arc<ProxyState>,
    parts: Parts,
    body: Arriving,
    /// The public origin of the listener, as configured.
    origin: String,
    peer: IpAddr,
    on_upgrade: OnUpgrade,
    place: Arc<OwnedSemaphorePermit>,
}

impl Arrived {
    async fn run(mut self, address: &Address) -> Result<Response<ToCaller>, Refusal> {
        let client = client_address(self.peer, &self.parts.headers, &self.shared.settings.trusted_proxies);
        let call = Call { client: Some(client), ..read_call(&mut self.parts, &self.origin)? };
        let Self { shared, parts, body, origin, on_upgrade, place, .. } = self;
        let (engine, to_head) = (Arc::clone(&shared.engine), parts.method == Method::HEAD);
        let kept = kept_decision(&parts, &body)?;
        let exchange = ProxyExchange::new(Arc::clone(&shared), parts, body, origin);
        let carried_out = match kept {
            Some(id) => Box::pin(engine.calls().carry_out_kept(address, call, &id, exchange)).await?,
            None => Box::pin(engine.calls().carry_out(address, call, exchange)).await?,
        };
        let settled = match carried_out {
            CarriedOut::Settled(settled) => *settled,
            CarriedOut::Queued(queued) => return queued_response(&queued).map(|answer| answer.map(ToCaller::whole)),
            CarriedOut::Previewed(preview) => {
                return preview_response(&preview).map(|answer| answer.map(ToCaller::whole));
            }
        };
        if settled.answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(websocket::start_tunnel(&shared, settled, on_upgrade, place));
        }
        Ok(caller_response(&shared, settled, to_head))
    }
}

/// `POST /.countersign/decisions/{id}/redeem` runs the request that was kept with a decision.
fn kept_decision(parts: &Parts, body: &Arriving) -> Result<Option<String>, Refusal> {
    let Some(path) = parts.uri.path().strip_prefix(RESERVED) else { return Ok(None) };
    if !path.is_empty() && !path.starts_with('/') {
        return Ok(None);
    }
    let id = path.strip_prefix("/decisions/").and_then(|rest| rest.strip_suffix("/redeem"));
    let id = id.filter(|id| !id.is_empty() && !id.contains('/') && parts.method == Method::POST);
    let id = id.ok_or_else(|| Refusal::NotFound("there is nothing at this address".into()))?;
    if !body.is_end_stream() || parts.headers.contains_key(header::UPGRADE) {
        return Err(Refusal::invalid("a decision is redeemed without a body"));
    }
    Ok(Some(id.to_owned()))
}

/// The upstream response as the caller gets it.
fn caller_response(shared: &ProxyState, settled: Settled<Response<FromUpstream>>, to_head: bool) -> Response<ToCaller> {
    let Settled { answer, egress, watch, unsettled_call, dry_run, undo } = settled;
    let (mut parts, body) = answer.into_parts();
    headers::clean_response(&mut parts.headers, to_head);
    headers::add_call_id(&mut parts.headers, unsettled_call.as_deref());
    headers::add_undo(&mut parts.headers, undo.as_ref());
    if dry_run {
        dry_run::mark(&mut parts.headers);
    }
    parts.version = Version::HTTP_11;
    parts.extensions.clear();
    if egress.is_none() && watch.is_none() {
        return Response::from_parts(parts, ToCaller::new(body));
    }
    let body = if watch.is_some() { body.without_a_limit() } else { body };
    let pumping = Pumping { engine: Arc::clone(&shared.engine), egress, watch, stopping: shared.stopping.clone() };
    Response::from_parts(parts, ToCaller::new(pump(body, pumping, &shared.under_way)))
}
