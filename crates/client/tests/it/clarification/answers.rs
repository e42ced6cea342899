//! Answers signed by the answering agent.

use super::{GAPS, RESOLVE, agent, ask_body, key, plan, publishes, response, response_to, session};
use crate::service::{Service, ok};
use countersign_client::clarification::{AnswerSigner, ClarificationError, Clarifications};
use countersign_protocol::{
    clarification::{
        Signable as _,
        signed::{AnswerBody, ask_hash},
        submission::{ResolveRequest, ResolveResponse},
    },
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn service() -> Arc<Service> {
    let service = Arc::new(Service::default());
    publishes(&service, &[&key(1)]);
    service.answers(GAPS, [ok(&response_to(&response(&key(1))))]);
    let resolved = json!({ "gap_id": "gap-001", "status": "resolved", "accepted_answer": "main", "given_by": "own",
        "open_gaps": 0 });
    service.answers(RESOLVE, [ok(&resolved)]);
    service
}

async fn signs(agent: &Clarifications, plan: &Value, gap_id: &str) -> Result<ResolveResponse, ClarificationError> {
    let by = AnswerSigner { agent_id: "planner".into(), key: key(9) };
    let now = UnixMillis::parse_rfc3339("2026-05-10T15:00:05Z").unwrap();
    agent.answer_signed(&session(), plan, (gap_id, "main"), &by, now).await
}

/// W-07
#[tokio::test]
async fn nothing_is_signed_about_another_plan_or_a_gap_that_is_not_open() {
    let service = service();
    let agent = agent(&service);
    let other = signs(&agent, &json!({ "transfer": { "amount": "83.00" } }), "gap-001").await;
    assert_eq!(other.unwrap_err(), ClarificationError::AnotherPlan);
    assert_eq!(signs(&agent, &plan(), "gap-002").await.unwrap_err(), ClarificationError::NotOpen("gap-002".into()));
    let mut forged = response(&key(1));
    forged.asks[0].ask_signature = key(2).sign(b"something else");
    service.answers(GAPS, [ok(&response_to(&forged))]);
    assert_eq!(signs(&agent, &plan(), "gap-001").await.unwrap_err(), ClarificationError::AnotherPlan);
    assert!(service.received_at(RESOLVE).is_empty());
}

/// W-06, W-07
#[tokio::test]
async fn a_signed_answer_is_bound_to_the_very_question_that_is_asked_now() {
    let service = service();
    let resolved = signs(&agent(&service), &plan(), "gap-001").await.unwrap();
    assert_eq!(resolved.accepted_answer.as_deref(), Some("main"));
    let sent = ResolveRequest::of_value(&service.bodies(RESOLVE)[0]).unwrap();
    let signed = sent.signed().unwrap();
    let body = AnswerBody {
        session_id: session(),
        round: 1,
        gap_id: "gap-001".into(),
        answer: "main".into(),
        answer_timestamp: signed.timestamp.clone(),
        answered_by: signed.answered_by.clone(),
        ask_hash: ask_hash(&ask_body(&key(1))).unwrap(),
    };
    let genuine = countersign_jose::clarification::verify(
        &signed.answered_by.public_key,
        &body.input().unwrap(),
        &signed.signature,
    );
    assert_eq!(genuine, Ok(()));
    assert_eq!(
        (signed.answered_by.agent_id.as_str(), signed.timestamp.as_str()),
        ("planner", "2026-05-10T15:00:05.000Z")
    );
}

#[tokio::test]
async fn an_unsigned_answer_has_the_three_members_that_suffice() {
    let service = service();
    agent(&service).answer(&session(), "gap-001", "main").await.unwrap();
    let expected = json!({ "session_id": session(), "gap_id": "gap-001", "answer": "main" });
    assert_eq!(service.bodies(RESOLVE), [expected]);
}
