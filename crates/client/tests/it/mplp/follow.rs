//! Live events over unreliable connections.

use super::{KEY, PLAN, SERVICE};
use async_trait::async_trait;
use bytes::Bytes;
use countersign_client::{
    mplp::{Mplp, MplpError, PlanFollower},
    transport::{Chunks, FetchError, Request, Response, Streaming, StreamingResponse, Transport, Unreachable},
};
use countersign_jose::ProofKey;
use countersign_protocol::{mplp::MplpId, origin::Origin, time::UnixMillis};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

/// One opened stream: its status, its headers, and its content until the connection is lost.
struct Scripted(u16, Vec<(&'static str, &'static str)>, Vec<String>);

#[derive(Default)]
struct Log {
    streams: Mutex<VecDeque<Scripted>>,
    asked: Mutex<Vec<Request>>,
}

impl Log {
    fn with(streams: impl IntoIterator<Item = Scripted>) -> Arc<Self> {
        Arc::new(Self { streams: Mutex::new(streams.into_iter().collect()), ..Self::default() })
    }

    fn headers(&self, name: &str) -> Vec<Option<String>> {
        let value = |request: &Request| request.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        self.asked.lock().unwrap().iter().map(value).collect()
    }
}

#[async_trait]
impl Transport for Log {
    async fn send(&self, _: Request) -> Result<Response, Unreachable> {
        panic!("only streams are opened here")
    }
}

#[async_trait]
impl Streaming for Log {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        self.asked.lock().unwrap().push(request);
        let next = self.streams.lock().unwrap().pop_front();
        let Some(Scripted(status, named, pieces)) = next else { return Err(FetchError::Connect.into()) };
        let pair = |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        let headers: HeaderMap = named.into_iter().map(pair).collect();
        let body = Box::new(Pieces(pieces.into()));
        Ok(StreamingResponse { status: StatusCode::from_u16(status).unwrap(), headers, body })
    }
}

struct Pieces(VecDeque<String>);

#[async_trait]
impl Chunks for Pieces {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable> {
        Ok(self.0.pop_front().map(Bytes::from))
    }
}

fn event(n: u8) -> Value {
    json!({
        "event_id": format!("00000000-0000-4000-8000-0000000000{n:02x}"), "event_type": "step_started",
        "timestamp": "2026-09-21T14:13:20Z", "event_family": "pipeline_stage", "pipeline_id": PLAN,
        "stage_id": "x", "stage_status": "running",
    })
}

fn piece(n: u8, place: Option<&str>) -> String {
    let place = place.map(|place| format!("id: {place}\n")).unwrap_or_default();
    format!("event: mplp.event\n{place}data: {}\n\n", event(n))
}

fn stream(pieces: impl IntoIterator<Item = String>) -> Scripted {
    Scripted(200, Vec::new(), pieces.into_iter().collect())
}

fn refused(status: u16) -> Scripted {
    let body = json!({ "error": "api_key_revoked", "error_description": "revoked" });
    Scripted(status, Vec::new(), vec![body.to_string()])
}

fn mplp(log: &Arc<Log>) -> Mplp {
    Mplp::new(&Origin::parse(SERVICE).unwrap(), None, KEY, log.clone())
}

fn following(log: &Arc<Log>, after: Option<&str>) -> PlanFollower {
    mplp(log).follow(log.clone(), after.map(str::to_owned), Box::new(|| 0))
}

async fn numbers(following: &mut PlanFollower, count: usize) -> Vec<u8> {
    let mut heard = Vec::new();
    for _ in 0..count {
        let id: MplpId = following.next().await.unwrap().event_id;
        heard.push(u8::from_str_radix(&id.as_str()[34..], 16).unwrap());
    }
    heard
}

/// R-10
#[tokio::test(start_paused = true)]
async fn a_revoked_credential_ends_it() {
    let log = Log::with([stream([piece(1, Some("0.1"))]), refused(401)]);
    let mut following = following(&log, None);
    assert_eq!(numbers(&mut following, 1).await, [1]);
    let error = following.next().await.unwrap_err();
    assert!(matches!(error, MplpError::Refused(why) if why.status == 401 && why.code == "api_key_revoked"));
}

#[tokio::test(start_paused = true)]
async fn each_event_is_delivered_once_and_in_order_over_any_number_of_connections() {
    let log = Log::with([
        // A position covers a whole entry: its first event is sent again if the second was lost.
        stream([piece(1, Some("0.1")), piece(2, None)]),
        refused(503),
        stream([piece(2, None), piece(3, Some("0.2")), piece(4, Some("0.3"))]),
        stream([": alive\n\n".to_owned(), piece(5, Some("0.4"))]),
    ]);
    let mut following = following(&log, Some("0.0"));
    assert_eq!(numbers(&mut following, 5).await, [1, 2, 3, 4, 5]);
    let places = log.headers("last-event-id");
    let places: Vec<&str> = places.iter().map(|place| place.as_deref().unwrap_or("none")).collect();
    assert_eq!(places, ["0.0", "0.1", "0.1", "0.3"]);
    assert!(log.headers("accept").iter().all(|kind| kind.as_deref() == Some("text/event-stream")));
}

#[tokio::test(start_paused = true)]
async fn something_that_is_no_event_is_not_passed_over() {
    let log = Log::with([stream(["id: 0.1\ndata: {}\n\n".to_owned()])]);
    assert_eq!(following(&log, None).next().await.unwrap_err(), MplpError::BadAnswer);
}

/// AAP-18.4-04
#[tokio::test(start_paused = true)]
async fn a_bound_credential_proves_itself_for_each_stream_with_the_nonce_that_is_demanded() {
    let demanded =
        Scripted(401, vec![("www-authenticate", r#"DPoP error="use_dpop_nonce""#), ("dpop-nonce", "n-1")], Vec::new());
    let log = Log::with([demanded, stream([piece(1, Some("0.1"))])]);
    let bound = mplp(&log).bound_to(ProofKey::generate().unwrap(), Box::new(|| UnixMillis(0)));
    let mut following = bound.follow(log.clone(), None, Box::new(|| 0));
    assert_eq!(numbers(&mut following, 1).await, [1]);
    let proofs: Vec<String> = log.headers("dpop").into_iter().flatten().collect();
    let nonce = |proof: &String| crate::consent::payload(proof).get("nonce").cloned();
    assert_eq!(proofs.iter().map(nonce).collect::<Vec<_>>(), [None, Some(json!("n-1"))]);
    assert!(log.headers("authorization").iter().flatten().all(|value| value.starts_with("DPoP ")));
}
