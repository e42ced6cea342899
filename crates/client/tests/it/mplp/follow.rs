//! Live events over unreliable connections.

use super::{KEY, PLAN, SERVICE};
use crate::service::{Piece, ScriptedStream, Service, header, refusal, with};
use countersign_client::{
    ServiceError,
    mplp::{Mplp, PlanFollower},
};
use countersign_jose::ProofKey;
use countersign_protocol::{mplp::MplpId, origin::Origin, time::UnixMillis};
use serde_json::{Value, json};
use std::sync::Arc;

fn scripted(streams: impl IntoIterator<Item = ScriptedStream>) -> Arc<Service> {
    let service = Arc::new(Service::default());
    service.streams(streams);
    service
}

fn headers(service: &Service, name: &str) -> Vec<String> {
    service.received().iter().map(|request| header(request, name)).collect()
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

fn stream(pieces: impl IntoIterator<Item = String>) -> ScriptedStream {
    Ok(pieces.into_iter().map(Piece::Text).collect())
}

fn mplp(service: &Arc<Service>) -> Mplp {
    Mplp::new(&Origin::parse(SERVICE).unwrap(), None, KEY, service.clone())
}

fn following(service: &Arc<Service>, after: Option<&str>) -> PlanFollower {
    mplp(service).follow(service.clone(), after.map(str::to_owned), Box::new(|| 0))
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
    let service = scripted([stream([piece(1, Some("0.1"))]), Err(Box::new(refusal(401, "api_key_revoked")))]);
    let mut following = following(&service, None);
    assert_eq!(numbers(&mut following, 1).await, [1]);
    let error = following.next().await.unwrap_err();
    assert!(matches!(error, ServiceError::Refused(why) if why.status == 401 && why.code == "api_key_revoked"));
}

#[tokio::test(start_paused = true)]
async fn each_event_is_delivered_once_and_in_order_over_any_number_of_connections() {
    let service = scripted([
        // A position covers a whole entry: its first event is sent again if the second was lost.
        stream([piece(1, Some("0.1")), piece(2, None)]),
        Err(Box::new(refusal(503, "service_unavailable"))),
        stream([piece(2, None), piece(3, Some("0.2")), piece(4, Some("0.3"))]),
        stream([": alive\n\n".to_owned(), piece(5, Some("0.4"))]),
    ]);
    let mut following = following(&service, Some("0.0"));
    assert_eq!(numbers(&mut following, 5).await, [1, 2, 3, 4, 5]);
    assert_eq!(headers(&service, "last-event-id"), ["0.0", "0.1", "0.1", "0.3"]);
    assert!(headers(&service, "accept").iter().all(|kind| kind == "text/event-stream"));
}

#[tokio::test(start_paused = true)]
async fn something_that_is_no_event_is_not_passed_over() {
    let service = scripted([stream(["id: 0.1\ndata: {}\n\n".to_owned()])]);
    assert_eq!(following(&service, None).next().await.unwrap_err(), ServiceError::BadAnswer);
}

/// AAP-18.4-04
#[tokio::test(start_paused = true)]
async fn a_bound_credential_proves_itself_for_each_stream_with_the_nonce_that_is_demanded() {
    let demanded = with(refusal(401, "dpop_invalid"), "www-authenticate", r#"DPoP error="use_dpop_nonce""#);
    let service = scripted([Err(Box::new(with(demanded, "dpop-nonce", "n-1"))), stream([piece(1, Some("0.1"))])]);
    let bound = mplp(&service).bound_to(ProofKey::generate().unwrap(), Box::new(|| UnixMillis(0)));
    let mut following = bound.follow(service.clone(), None, Box::new(|| 0));
    assert_eq!(numbers(&mut following, 1).await, [1]);
    let proofs = headers(&service, "dpop");
    let nonce = |proof: &String| crate::consent::payload(proof).get("nonce").cloned();
    assert_eq!(proofs.iter().map(nonce).collect::<Vec<_>>(), [None, Some(json!("n-1"))]);
    assert!(headers(&service, "authorization").iter().all(|value| value.starts_with("DPoP ")));
}
