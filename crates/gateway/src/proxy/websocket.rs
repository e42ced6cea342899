//! WebSockets, on routes declared for them: audited at open and close, and cut when the session ends.

use super::{
    ProxyState,
    bodies::{FromUpstream, ToCaller},
    pump::cut_off,
};
use crate::call::single;
use bytes::Bytes;
use countersign_engine::{Egress, Engine, Refusal, Settled, Watch};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header, request::Parts};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::OwnedSemaphorePermit,
};

/// The headers that both ends must agree on. No other handshake header passes.
const HANDSHAKE: [HeaderName; 4] = [
    header::SEC_WEBSOCKET_KEY,
    header::SEC_WEBSOCKET_VERSION,
    header::SEC_WEBSOCKET_PROTOCOL,
    header::SEC_WEBSOCKET_EXTENSIONS,
];
const BUFFER: usize = 16 * 1024;

/// Whether this opens a WebSocket, as RFC 6455 requires.
pub(super) fn is_opening(parts: &Parts) -> Result<bool, Refusal> {
    let Some(upgrade) = single(&parts.headers, header::UPGRADE)? else { return Ok(false) };
    let named = |value: &str| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("upgrade"));
    let connection = parts.headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let sound = parts.method == Method::GET
        && upgrade.eq_ignore_ascii_case("websocket")
        && connection.into_iter().any(named)
        && single(&parts.headers, header::SEC_WEBSOCKET_KEY)?.is_some()
        && single(&parts.headers, header::SEC_WEBSOCKET_VERSION)? == Some("13");
    sound.then_some(true).ok_or_else(|| Refusal::invalid("the WebSocket handshake is not valid"))
}

/// Forwards all bytes after the handshake in a task of its own.
pub(super) fn start_tunnel(
    shared: &ProxyState,
    settled: Settled<Response<FromUpstream>>,
    on_upgrade: OnUpgrade,
    place: Arc<OwnedSemaphorePermit>,
) -> Response<ToCaller> {
    let Settled { mut answer, egress, watch, .. } = settled;
    let upstream = hyper::upgrade::on(&mut answer);
    let tunnel = WebSocketRelay { engine: Arc::clone(&shared.engine), watch, egress, bytes: 0 };
    let (stopping, over) = (shared.stopping.clone(), shared.over.clone());
    shared.under_way.spawn(async move {
        let _place = place;
        tokio::select! {
            () = tunnel.run(on_upgrade, upstream, stopping) => {}
            () = over.cancelled() => {}
        }
    });
    accepted(answer.headers())
}

/// The handshake headers, and those listed by the route.
pub(super) fn handshake(sent: &HeaderMap, mut passed: HeaderMap) -> HeaderMap {
    for name in HANDSHAKE {
        passed.remove(&name);
        for value in sent.get_all(&name) {
            passed.append(name.clone(), value.clone());
        }
    }
    passed.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    passed.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    passed
}

fn accepted(answered: &HeaderMap) -> Response<ToCaller> {
    let mut response = Response::new(ToCaller::whole(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    let agreed = [header::SEC_WEBSOCKET_ACCEPT, header::SEC_WEBSOCKET_PROTOCOL, header::SEC_WEBSOCKET_EXTENSIONS];
    for name in agreed {
        if let Some(value) = answered.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}

struct WebSocketRelay {
    engine: Arc<Engine>,
    watch: Option<Watch>,
    egress: Option<Egress>,
    bytes: u64,
}

impl WebSocketRelay {
    async fn run(mut self, caller: OnUpgrade, upstream: OnUpgrade, stopping: tokio_util::sync::CancellationToken) {
        let why = match tokio::join!(caller, upstream) {
            (Ok(caller), Ok(upstream)) => {
                let engine = Arc::clone(&self.engine);
                let Self { watch, egress, bytes, .. } = &mut self;
                tokio::select! {
                    why = copy_both(&engine, caller, upstream, egress, bytes) => why.to_owned(),
                    refusal = cut_off(&engine, watch.as_ref()) => refusal.code().as_str().to_owned(),
                    () = stopping.cancelled() => "the gateway stopped".to_owned(),
                }
            }
            _ => "it never began".to_owned(),
        };
        if let Some(egress) = self.egress {
            self.engine.calls().give_back_unused(egress).await;
        }
        if let Some(watch) = self.watch {
            self.engine.calls().close_stream(watch, &why, self.bytes).await;
        }
    }
}

/// Runs until one side ends. Bytes from the upstream are metered.
async fn copy_both(
    engine: &Arc<Engine>,
    caller: Upgraded,
    upstream: Upgraded,
    egress: &mut Option<Egress>,
    bytes: &mut u64,
) -> &'static str {
    let (from_caller, to_caller) = tokio::io::split(TokioIo::new(caller));
    let (from_upstream, to_upstream) = tokio::io::split(TokioIo::new(upstream));
    tokio::select! {
        _ended = copy(from_caller, to_upstream) => "the caller left",
        why = metered(engine, from_upstream, to_caller, egress, bytes) => why,
    }
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(buffer.get(..read).unwrap_or_default()).await?;
        to.flush().await?;
    }
}

async fn metered(
    engine: &Arc<Engine>,
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    egress: &mut Option<Egress>,
    bytes: &mut u64,
) -> &'static str {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => return "the upstream ended it",
            Ok(read) => read as u64,
        };
        let passed = match egress {
            Some(egress) => engine.calls().allow_bytes(egress, read).await,
            None => read,
        };
        *bytes += passed;
        let part = buffer.get(..usize::try_from(passed.min(read)).unwrap_or_default()).unwrap_or_default();
        if to.write_all(part).await.is_err() || to.flush().await.is_err() {
            return "the caller left";
        }
        if passed < read {
            return "the session's limit of response bytes is reached";
        }
    }
}
