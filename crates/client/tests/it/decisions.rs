//! An agent that asks, waits, claims and reports.

use crate::service::{Service, header, ok, refusal, with};
use countersign_client::{
    ServiceError,
    decisions::{Decisions, PublishResult},
    transport::{FetchError, Response, Transport, Unreachable},
};
use countersign_protocol::{
    aaep::event::{Payload, SessionStarted, Summaries},
    decisions::{ClaimRequest, ConfirmationRequest, OutcomeRequest, OutcomeStatus, State, WithdrawRequest},
    ids::ProjectId,
    origin::Origin,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const SERVICE: &str = "https://plane.example";
const KEY: &str = "csk_0123456789";
const DECISION: &str = "/v1/decisions/dec_1";

fn decision(state: &str) -> Value {
    json!({
        "decision_id": "dec_1", "kind": "confirmation", "state": state, "session_id": "sess_1", "digest": "00",
        "risk_level": "high", "irreversible": true, "asked_at": "2026-09-21T14:13:20Z", "page": "https://plane.example/inbox/p/dec_1",
    })
}

fn agent(transport: Arc<dyn Transport>) -> Decisions {
    Decisions::new(&Origin::parse(SERVICE).unwrap(), None, KEY, transport, Box::new(|| 0))
}

/// A service with these results at one path.
fn script(path: &str, results: impl IntoIterator<Item = Result<Response, Unreachable>>) -> Arc<Service> {
    let service = Arc::new(Service::default());
    service.results(path, results);
    service
}

#[tokio::test(start_paused = true)]
async fn a_refusal_ends_the_wait_and_nothing_else_does_but_patience() {
    let gone = script(DECISION, [Ok(refusal(404, "not_found"))]);
    let error = agent(gone.clone()).wait("dec_1", Duration::from_secs(600)).await.unwrap_err();
    assert!(matches!(error, ServiceError::Refused(refused) if refused.status == 404));
    assert_eq!(gone.received().len(), 1);
    let silent = agent(script(DECISION, [])).wait("dec_1", Duration::from_secs(600)).await;
    assert_eq!(silent.unwrap_err(), ServiceError::StillPending, "which is no no");
}

#[tokio::test(start_paused = true)]
async fn a_wait_outlives_lost_connections_restarts_and_long_polls_that_end() {
    let lost = |why: FetchError| Err(Unreachable::Fetch(why));
    let script = script(
        DECISION,
        [
            Ok(ok(&decision("pending"))),
            lost(FetchError::Http),
            lost(FetchError::Connect),
            Ok(with(refusal(503, "service_unavailable"), "retry-after", "1")),
            Ok(ok(&decision("pending"))),
            lost(FetchError::TimedOut),
            Ok(ok(&decision("accepted"))),
        ],
    );
    let settled = agent(script.clone()).wait("dec_1", Duration::from_secs(600)).await.unwrap();
    assert_eq!(settled.state, State::Accepted);
    let asked = script.received();
    assert_eq!(asked.len(), 7);
    assert_eq!(asked[0].url, "https://plane.example/v1/decisions/dec_1?wait=50");
    assert!(asked[0].time_limit.unwrap() > Duration::from_secs(50), "it is not cut off before its answer");
}

#[tokio::test]
async fn each_request_is_the_agents_and_carries_the_required_headers() {
    let service = Arc::new(Service::default());
    for path in [
        "/v1/confirmations",
        "/v1/decisions/dec_1/claim",
        "/v1/decisions/dec_1/outcome",
        "/v1/decisions/dec_1/withdraw",
    ] {
        service.answers(path, [ok(&decision("pending"))]);
    }
    let agent = agent(service.clone());
    let question = ConfirmationRequest { action: "Pay".into(), consequence: "Gone".into(), ..Default::default() };
    agent.request_confirmation(&question).await.unwrap();
    agent.claim("dec_1", &ClaimRequest { tool: Some("pay".into()), ..Default::default() }).await.unwrap();
    agent
        .report("dec_1", &OutcomeRequest { status: OutcomeStatus::Committed, execution_id: None, error_message: None })
        .await
        .unwrap();
    agent.withdraw("dec_1", &WithdrawRequest::default()).await.unwrap();
    assert_eq!(service.bodies("/v1/confirmations"), [json!({ "action": "Pay", "consequence": "Gone" })]);
    assert_eq!(service.bodies("/v1/decisions/dec_1/outcome"), [json!({ "status": "committed" })]);
    for request in service.received() {
        assert_eq!(header(&request, "authorization"), format!("Bearer {KEY}"));
        assert_eq!(header(&request, "aap-version"), "2.0");
        assert!(request.headers["authorization"].is_sensitive());
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_not_sent_again_by_itself() {
    let script = script(
        &format!("{DECISION}/claim"),
        [Err(Unreachable::Fetch(FetchError::Http)), Ok(ok(&decision("accepted")))],
    );
    let claimed = agent(script.clone()).claim("dec_1", &ClaimRequest::default()).await;
    assert!(matches!(claimed, Err(ServiceError::Unreachable(_))));
    assert_eq!(script.received().len(), 1);
}

#[tokio::test]
async fn an_agent_sends_events_in_its_own_session_and_a_question_becomes_a_decision() {
    let service = Arc::new(Service::default());
    service.answers("/projects/p1/aaep/v1/sessions", [ok(&json!({ "session_id": "sess_1", "events": "x" }))]);
    let events = "/projects/p1/aaep/v1/sessions/sess_1/events";
    service.answers(events, [ok(&json!({ "event_id": "evt_1", "sequence_number": 1 })), ok(&decision("pending"))]);
    let project = ProjectId::parse("p1").unwrap();
    let origin = Origin::parse(SERVICE).unwrap();
    let agent = Decisions::new(&origin, Some(&project), KEY, service.clone(), Box::new(|| 0));
    let started = SessionStarted { summaries: Summaries::normal("I begin."), ..SessionStarted::default() };
    let session = agent.open_session(&started).await.unwrap();
    let said = agent.publish(&session, &Payload::SessionStarted(started.clone())).await.unwrap();
    assert_eq!(said, PublishResult::Said { event_id: "evt_1".into() });
    let asked = agent.publish(&session, &Payload::SessionStarted(started)).await.unwrap();
    assert!(matches!(asked, PublishResult::Asked(decision) if decision.decision_id == "dec_1"));
    assert_eq!(service.bodies("/projects/p1/aaep/v1/sessions")[0]["type"], "aaep:agent.session.started");
}
