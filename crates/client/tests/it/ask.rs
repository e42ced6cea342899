//! Requests of an operator in its own name.

use crate::{
    fixture::{ClientFixture, SERVICE, at, create_event, manifest},
    service::{MANIFEST, REGISTER, header, ok, refusal},
};
use countersign_client::agent::{AskError, AuditQuery, CallError, Lost, WireError};
use countersign_jose::{Expected, KeyPolicy, KeySet, verify_operator};
use serde_json::json;

#[tokio::test]
async fn a_revoked_delegation_is_given_up_here_too() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let answer = json!({ "revoked_at": "2026-06-01T00:00:00Z", "delegation_id": "del_k9x2mq" });
    fixture.service.answers("/agent/revoke", [ok(&answer)]);
    fixture.agent.revoke(Some("task_complete"), at(1)).await.unwrap();
    let body = &fixture.service.bodies("/agent/revoke")[0];
    assert_eq!((&body["delegation_id"], &body["reason"]), (&json!("del_k9x2mq"), &json!("task_complete")));
    assert_proven(&fixture, body["operator_jwt"].as_str().unwrap());
    let sent = fixture.service.received().len();
    assert_eq!(fixture.agent.call(&create_event(), at(2)).await.unwrap_err(), CallError::Lost(Lost::NotConnected));
    assert_eq!(fixture.agent.revoke(None, at(2)).await.unwrap_err(), AskError::NothingToRevoke);
    assert_eq!(fixture.service.received().len(), sent);
}

#[tokio::test]
async fn a_refused_revocation_leaves_everything_as_it_was() {
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers("/agent/revoke", [refusal(503, "service_unavailable")]);
    assert!(matches!(fixture.agent.revoke(None, at(1)).await.unwrap_err(), AskError::Wire(WireError::Refused(_))));
    fixture.agent.call(&create_event(), at(2)).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_session_is_not_used_again() {
    let (mut fixture, receipt) = ClientFixture::registered().await;
    let answer = json!({ "cancelled_at": "2026-06-01T00:00:00Z", "rollback_status": "not_supported" });
    fixture.service.answers("/agent/cancel", [ok(&answer)]);
    fixture.agent.cancel("sess_of_another_task", None, at(1)).await.unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    fixture.agent.cancel(receipt.session_id(), Some("the person changed their mind"), at(1)).await.unwrap();
    let body = &fixture.service.bodies("/agent/cancel")[1];
    assert_eq!(body["session_id"], receipt.session_id());
    assert_proven(&fixture, body["operator_jwt"].as_str().unwrap());
    assert_eq!(fixture.agent.call(&create_event(), at(2)).await.unwrap_err(), CallError::NotRegistered);
}

#[tokio::test]
async fn the_audit_is_read_page_by_page_to_its_end() {
    let mut fixture = ClientFixture::connected().await;
    let page = |cursor: serde_json::Value| ok(&json!({ "entries": [], "next_cursor": cursor, "total_count": 2 }));
    fixture.service.answers("/agent/audit", [page(json!("c 1")), page(json!(null))]);
    let query = AuditQuery { from: Some(at(0)), limit: Some(1), ..AuditQuery::of_delegation("del_k9x2mq") };
    let first = fixture.agent.audit(&query, at(1)).await.unwrap();
    let next = query.after(&first).unwrap();
    let second = fixture.agent.audit(&next, at(1)).await.unwrap();
    assert_eq!(next.after(&second), None);
    let asked = fixture.service.received_at("/agent/audit");
    let from = at(0).to_rfc3339().replace(':', "%3A");
    let first_url = format!("{SERVICE}/agent/audit?delegation_id=del_k9x2mq&from={from}&limit=1");
    assert_eq!(asked[0].url, first_url);
    assert_eq!(asked[1].url, format!("{first_url}&cursor=c+1"));
    assert_proven(&fixture, header(&asked[0], "authorization").strip_prefix("Bearer ").unwrap());
    let stuck = AuditQuery { cursor: Some("c 1".to_owned()), ..query };
    assert_eq!(stuck.after(&first), None, "a cursor that leads to itself leads nowhere");
}

#[tokio::test]
async fn one_may_stop_and_look_where_one_may_not_act() {
    let mut high = manifest();
    high["minimum_tier"] = json!(4);
    let mut fixture = ClientFixture::at(&high);
    fixture.service.answers("/agent/audit", [ok(&json!({ "entries": [], "next_cursor": null, "total_count": 0 }))]);
    fixture.agent.audit(&AuditQuery::of_session("sess_1"), at(0)).await.unwrap();
    assert_eq!(fixture.service.paths(), [MANIFEST, "/agent/audit"]);
    assert!(fixture.service.received_at(REGISTER).is_empty());
}

fn assert_proven(fixture: &ClientFixture, jwt: &str) {
    let keys = KeySet::parse(&fixture.operator.documents(at(1))[1].body, &KeyPolicy::default()).unwrap();
    let expected = Expected { operator: fixture.operator.domain(), service: SERVICE };
    verify_operator(jwt, &keys, expected, at(1)).unwrap();
}
