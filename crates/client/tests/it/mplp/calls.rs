//! Single MPLP requests.

use super::{CONFIRM, KEY, PLAN, SERVICE, STEP, confirm, plan};
use crate::{
    fixture::{ClientFixture, at, create_event},
    service::{EVENTS, Service, header, ok, refusal, with},
};
use countersign_client::{
    ServiceError,
    agent::CallError,
    mplp::{Mplp, confirm_id, decision_id},
    transport::Response,
};
use countersign_protocol::{
    ids::ProjectId,
    mplp::{
        DecisionRequest, DecisionStatus, MplpId, PlanStatus, PlanSubmission, ProposeRequest, StepReport, StepStatus,
    },
    origin::Origin,
};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

fn id(text: &str) -> MplpId {
    MplpId::parse(text).unwrap()
}

fn agent(service: &Arc<Service>) -> Mplp {
    Mplp::new(&Origin::parse(SERVICE).unwrap(), None, KEY, service.clone())
}

fn at_plan(below: &str) -> String {
    format!("/mplp/v1/plans/{PLAN}{below}")
}

fn submission() -> PlanSubmission {
    PlanSubmission::read(plan("draft").to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn a_refusal_and_a_strange_answer_are_no_documents() {
    let service = Arc::new(Service::default());
    let strange = Response { status: StatusCode::OK, ..ok(&json!({ "plan_id": PLAN })) };
    service.answers(&at_plan(""), [refusal(404, "not_found"), strange]);
    let mplp = agent(&service);
    let refused = mplp.plan(&id(PLAN)).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Refused(why) if why.status == 404 && why.hint.is_some()));
    assert_eq!(mplp.plan(&id(PLAN)).await.unwrap_err(), ServiceError::BadAnswer);
}

///
#[tokio::test]
async fn a_decision_that_comes_late_is_refused_and_is_not_sent_again() {
    let service = Arc::new(Service::default());
    let path = format!("/mplp/v1/confirms/{}/decisions", confirm_id(&format!("dec_{CONFIRM}")).unwrap());
    service.answers(&path, [refusal(409, "conflict")]);
    let yes = DecisionRequest {
        status: DecisionStatus::Approved,
        reason: None,
        decided_by_role: None,
        by_override: false,
        steps: None,
        bounds: None,
    };
    let late = agent(&service).decide(&confirm_id(&format!("dec_{CONFIRM}")).unwrap(), &yes).await;
    assert!(matches!(late, Err(ServiceError::Refused(why)) if why.status == 409));
    assert_eq!(service.bodies(&path), [json!({ "status": "approved" })]);
}

#[test]
fn a_confirm_and_its_decision_have_the_same_digits() {
    let named = confirm_id(&format!("dec_{CONFIRM}")).unwrap();
    assert_eq!(named.as_str(), "01234567-89ab-4def-8123-456789abcdef");
    assert_eq!(decision_id(&named), format!("dec_{CONFIRM}"));
    for other in ["dec_1", CONFIRM, "evt_0123456789ab4def8123456789abcdef", "dec_0123456789ab1def8123456789abcdef"] {
        assert_eq!(confirm_id(other), None, "{other}");
    }
}

#[tokio::test]
async fn a_plan_is_written_proposed_followed_and_called_off() {
    let service = Arc::new(Service::default());
    service.answers("/mplp/v1/plans", [ok(&plan("draft"))]);
    service.answers(&at_plan("/propose"), [with(ok(&confirm("pending")), "countersign-decision", "dec_7")]);
    service.answers(&at_plan("/diff"), [ok(&json!({ "lines": ["its uses went from 1 to 2"] }))]);
    service.answers(&at_plan(&format!("/steps/{STEP}")), [ok(&plan("in_progress"))]);
    service.answers(&at_plan("/cancel"), [ok(&plan("cancelled"))]);
    let mplp = agent(&service);
    assert_eq!(mplp.write(&submission()).await.unwrap().status, PlanStatus::Draft);
    let ask = ProposeRequest { reason: Some("July".into()), ..ProposeRequest::default() };
    assert_eq!(mplp.propose(&id(PLAN), &ask).await.unwrap().decision_id, "dec_7");
    assert_eq!(mplp.changes(&id(PLAN)).await.unwrap(), ["its uses went from 1 to 2"]);
    assert_eq!(mplp.difference(&id(PLAN), &submission()).await.unwrap().len(), 1);
    let report = StepReport { status: StepStatus::Completed, reason: None };
    assert_eq!(mplp.report(&id(PLAN), &id(STEP), &report).await.unwrap().status, PlanStatus::InProgress);
    assert_eq!(mplp.cancel(&id(PLAN), Some("enough")).await.unwrap().status, PlanStatus::Cancelled);
    assert_eq!(service.bodies(&at_plan("/propose")), [json!({ "reason": "July" })]);
    assert_eq!(service.bodies(&at_plan("/cancel")), [json!({ "reason": "enough" })]);
    assert_eq!(
        service.received_at(&at_plan("/diff")).iter().map(|r| r.method.as_str()).collect::<Vec<_>>(),
        ["GET", "POST"]
    );
    for request in service.received() {
        assert_eq!(header(&request, "authorization"), format!("Bearer {KEY}"));
        assert!(request.headers["authorization"].is_sensitive());
    }
}

/// The decision id follows from the Confirm id, even if the service does not state it.
#[tokio::test]
async fn the_decision_behind_a_confirm_follows_from_its_id() {
    let service = Arc::new(Service::default());
    service.answers(&at_plan("/propose"), [ok(&confirm("pending"))]);
    let proposed = agent(&service).propose(&id(PLAN), &ProposeRequest::default()).await.unwrap();
    assert_eq!(proposed.decision_id, format!("dec_{CONFIRM}"));
}

#[tokio::test]
async fn an_id_that_is_none_stays_within_its_path() {
    let service = Arc::new(Service::default());
    service.answers("/projects/p1/mplp/v1/allowances/alw_ffplans/revoke", [ok(&json!({}))]);
    let project = ProjectId::parse("p1").unwrap();
    let person = Mplp::new(&Origin::parse(SERVICE).unwrap(), Some(&project), "cst_1", service.clone());
    person.revoke("alw_ff/../plans", None).await.unwrap();
    assert_eq!(service.paths().len(), 1);
}

#[tokio::test]
async fn pages_of_events_end_where_nothing_more_has_happened() {
    let service = Arc::new(Service::default());
    let page = |next: &str| ok(&json!({ "items": [], "next": next }));
    service.answers("/mplp/v1/events", [page("0.7"), page("0.7"), page("")]);
    let mplp = agent(&service);
    assert_eq!(mplp.events(None).await.unwrap().next.as_deref(), Some("0.7"));
    assert_eq!(mplp.events(Some("0.7")).await.unwrap().next, None);
    assert_eq!(mplp.events(None).await.unwrap().next, None, "an empty log has no place to go on from");
    assert!(service.received()[1].url.ends_with("/mplp/v1/events?limit=200&after=0.7"));
}

///
#[tokio::test]
async fn a_held_call_says_how_it_differs_from_the_plan() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let held = |decision: Value| {
        let body = json!({ "error": "irreversible_requires_confirm", "error_description": "no", "decision": decision });
        Response { status: StatusCode::FORBIDDEN, ..ok(&body) }
    };
    for (told, lines) in [
        (json!({ "decision_id": "dec_1" }), vec![]),
        (json!({ "plan_difference": { "lines": "x" } }), vec![]),
        (json!({ "plan_difference": { "lines": ["amount is 2\u{1b}", 7] } }), vec!["amount is 2"]),
    ] {
        fixture.service.answers(EVENTS, [held(told)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        let CallError::NotPermitted(why) = error else { panic!("{error:?}") };
        let cleared: Vec<String> =
            why.plan_difference.iter().map(|line| line.replace(|c: char| !c.is_ascii(), "")).collect();
        assert_eq!(cleared, lines);
        assert!(why.plan_difference.iter().all(|line| !line.contains('\u{1b}')));
    }
}
