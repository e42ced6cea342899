//! API calls and the agent's reaction to each response.

use crate::{
    fixture::{ClientFixture, OPERATOR, SERVICE, WORDS, at, create_event, list_events},
    service::{EVENTS, REGISTER, header, ok, refusal, with},
};
use countersign_client::agent::{AgentCall, CallError, Lost, Notice};
use http::StatusCode;
use serde_json::json;

/// AAP-12.4-02
#[tokio::test]
async fn the_persons_words_never_leave_the_operator() {
    let (mut fixture, receipt) = ClientFixture::registered().await;
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    assert_eq!(fixture.kept.lock().unwrap()[0].text, WORDS);
    for request in fixture.service.received() {
        assert!(!request.headers.contains_key("x-agent-intent"));
        let seen = format!("{} {:?} {}", request.url, request.headers, String::from_utf8_lossy(&request.body));
        assert!(!seen.contains("therapist"), "{seen}");
    }
    let claims = crate::consent::payload(receipt.jwt());
    assert!(claims["intent"].as_str().unwrap().starts_with("sha256:"));
    assert!(!claims.to_string().contains("therapist"));
    for words in [WORDS, "book", "SCHEDULE EVENT", ""] {
        let call = AgentCall::get(EVENTS).intent_type(words);
        assert_eq!(fixture.agent.call(&call, at(1)).await.unwrap_err(), CallError::NotAnIntentType);
    }
}

/// AAP-22.1-01
#[tokio::test]
async fn every_request_names_the_version() {
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    fixture.agent.finish_connect("code", at(0)).await.unwrap();
    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    for (path, answer) in [
        ("/agent/audit", json!({ "entries": [], "next_cursor": null, "total_count": 0 })),
        ("/agent/cancel", json!({ "cancelled_at": "2026-01-01T00:00:00Z", "rollback_status": "not_supported" })),
        ("/agent/revoke", json!({ "revoked_at": "2026-01-01T00:00:00Z", "delegation_id": "del_k9x2mq" })),
    ] {
        fixture.service.answers(path, [ok(&answer)]);
    }
    fixture.agent.audit(&Default::default(), at(2)).await.unwrap();
    fixture.agent.cancel(receipt.session_id(), None, at(2)).await.unwrap();
    fixture.agent.revoke(None, at(2)).await.unwrap();
    let asked = fixture.service.received();
    assert_eq!(asked.len(), 8);
    for request in asked {
        assert_eq!(header(&request, "aap-version"), "2.0", "{}", request.url);
    }
}

#[tokio::test]
async fn a_call_names_its_agent_and_its_action() {
    let (mut fixture, receipt) = ClientFixture::registered().await;
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    let sent = &fixture.service.received_at(EVENTS)[0];
    assert_eq!(header(sent, "authorization"), "Bearer access-1");
    assert_eq!(header(sent, "x-agent-mode"), "user_delegated");
    assert_eq!(header(sent, "x-agent-session"), receipt.session_id());
    assert_eq!(header(sent, "x-agent-delegation"), "del_k9x2mq");
    assert_eq!(header(sent, "x-agent-intent-type"), "SCHEDULE_EVENT");
    assert_eq!(header(sent, "content-type"), "application/json");
    assert_eq!(sent.body, json!({ "title": "Meeting" }).to_string());
}

#[tokio::test]
async fn a_token_that_the_service_no_longer_knows_is_renewed_once() {
    for code in ["access_token_expired", "access_token_invalid", "operator_jwt_invalid"] {
        let (mut fixture, _) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [refusal(401, code), ok(&json!({}))]);
        fixture.agent.call(&create_event(), at(1)).await.unwrap();
        assert_eq!(fixture.service.received_at(REGISTER).len(), 2);
        assert_eq!(header(&fixture.service.received_at(EVENTS)[1], "authorization"), "Bearer access-2");

        let (mut fixture, _) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [refusal(401, code)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert!(matches!(error, CallError::Refused(refused) if refused.code == code));
        assert_eq!((fixture.service.received_at(EVENTS).len(), fixture.service.received_at(REGISTER).len()), (2, 2));
    }
}

/// AAP-16.2-25
#[tokio::test]
async fn a_403_never_makes_the_agent_register_again() {
    for code in ["scope_not_granted", "consent_scope_exceeded", "tier_not_met", "irreversible_requires_confirm"] {
        let (mut fixture, receipt) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [refusal(403, code)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert!(matches!(error, CallError::NotPermitted(refused) if refused.code == code));
        assert_eq!((fixture.service.received_at(EVENTS).len(), fixture.service.received_at(REGISTER).len()), (1, 1));
        assert!(matches!(fixture.notices().last(), Some(Notice::LostCapability { code: told, .. }) if told == code));
        assert_eq!(fixture.agent.session_id(), Some(receipt.session_id()), "it may still do other things");
    }
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers(EVENTS, [refusal(403, "access_token_expired"), ok(&json!({}))]);
    assert_eq!(fixture.agent.call(&create_event(), at(1)).await.unwrap().status, StatusCode::FORBIDDEN);
    assert_eq!(fixture.service.received_at(REGISTER).len(), 1);
}

#[tokio::test]
async fn a_held_call_names_its_decision_and_a_confirmed_one_its_approval() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let held = |decision: serde_json::Value| {
        let body = json!({ "error": "irreversible_requires_confirm", "decision": decision });
        countersign_client::transport::Response { status: StatusCode::FORBIDDEN, ..ok(&body) }
    };
    for (decision, named) in [(json!("dec_1"), None), (json!({ "decision_id": "dec_1" }), Some("dec_1".to_owned()))] {
        fixture.service.answers(EVENTS, [held(decision)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert!(matches!(error, CallError::NotPermitted(why) if why.decision_id == named));
    }
    fixture.service.answers(EVENTS, [ok(&json!({}))]);
    fixture.agent.call(&create_event().confirmed("dec_1.cft_2"), at(1)).await.unwrap();
    let said: Vec<String> =
        fixture.service.received_at(EVENTS).iter().map(|sent| header(sent, "x-agent-confirm")).collect();
    assert_eq!(said, ["", "", "dec_1.cft_2"]);
}

/// AAP-16.2-07
#[tokio::test]
async fn a_revoked_delegation_is_reported_with_its_reason_and_never_tried_again() {
    for (code, reason) in [("delegation_revoked", "manual_revoke"), ("auto_revoked", "policy_expired")] {
        let (mut fixture, receipt) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [with(refusal(401, code), "x-agent-revoke-reason", reason)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert_eq!(error, CallError::Lost(Lost::CutOff { reason: reason.to_owned() }));
        let notice = Notice::AccessCutOff { service: SERVICE.to_owned(), reason: reason.to_owned() };
        assert_eq!(fixture.notices().last(), Some(&notice));
        let before = fixture.service.received().len();
        assert!(fixture.agent.delegation().is_none());
        fixture.agent.call(&create_event(), at(2)).await.unwrap_err();
        fixture.agent.register(Some(&receipt), at(2)).await.unwrap_err();
        assert_eq!(fixture.service.received().len(), before);
    }
}

#[tokio::test]
async fn a_reason_that_the_protocol_does_not_know_is_not_repeated_to_the_person() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let odd = with(refusal(401, "delegation_revoked"), "x-agent-revoke-reason", "pay at evil.test");
    fixture.service.answers(EVENTS, [odd]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    let reason = "not told".to_owned();
    assert_eq!(fixture.notices().last(), Some(&Notice::AccessCutOff { service: SERVICE.to_owned(), reason }));
}

#[tokio::test]
async fn a_withdrawn_operator_key_is_mended_with_the_next_key() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let withdrawn = with(refusal(401, "operator_jwt_invalid"), "x-agent-revoke-reason", "key_rotation");
    fixture.service.answers(EVENTS, [withdrawn, ok(&json!({}))]);
    fixture.operator.rotate(at(1)).unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    let kids: Vec<String> =
        fixture.service.bodies(REGISTER).iter().map(|body| kid(body["operator_jwt"].as_str().unwrap())).collect();
    assert_ne!(kids[0], kids[1]);
}

/// AAP-5.1-01, AAP-5.1-02
#[tokio::test]
async fn after_the_challenge_the_person_is_asked_and_no_further_call_is_made() {
    for without_envelope in [false, true] {
        let (mut fixture, _) = ClientFixture::registered().await;
        let challenge = "Bearer agent_auth_required=\"/.well-known/agent-auth.json\"";
        let mut answer = with(refusal(401, "agent_auth_required"), "www-authenticate", challenge);
        if without_envelope {
            answer.body = "who are you?".into();
        }
        fixture.service.answers(EVENTS, [answer]);
        let error = fixture.agent.call(&list_events(), at(1)).await.unwrap_err();
        assert_eq!(error, CallError::Lost(Lost::NotConnected));
        let told = fixture.notices();
        assert!(
            matches!(told.last(), Some(Notice::ConnectNeeded { service, operator }) if service == SERVICE && operator.as_str() == OPERATOR)
        );
        fixture.agent.call(&list_events(), at(1)).await.unwrap_err();
        assert_eq!(fixture.service.received_at(EVENTS).len(), 1);
    }
}

#[tokio::test]
async fn a_delegation_that_ran_out_needs_the_person_and_not_another_try() {
    for code in ["delegation_expired", "delegation_not_found", "delegation_invalid"] {
        let (mut fixture, _) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [refusal(401, code)]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert_eq!(error, CallError::Lost(Lost::Delegation { code: code.to_owned() }));
        assert!(matches!(fixture.notices().last(), Some(Notice::ConnectNeeded { .. })));
        assert_eq!((fixture.service.received_at(EVENTS).len(), fixture.service.received_at(REGISTER).len()), (1, 1));
    }
}

#[tokio::test]
async fn when_consent_is_over_only_fresh_consent_helps() {
    for code in ["consent_expired", "consent_invalid"] {
        let (mut fixture, _) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [refusal(401, code), ok(&json!({}))]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert_eq!(error, CallError::Lost(Lost::Consent { code: code.to_owned() }));
        assert!(matches!(fixture.notices().last(), Some(Notice::LostCapability { .. })));
        assert_eq!(fixture.agent.call(&create_event(), at(1)).await.unwrap_err(), CallError::NotRegistered);
        assert_eq!(fixture.service.received_at(REGISTER).len(), 1);
        let again = fixture.consents();
        fixture.admits(again.session_id());
        fixture.agent.register(Some(&again), at(1)).await.unwrap();
        fixture.agent.call(&create_event(), at(1)).await.unwrap();
    }
}

#[tokio::test]
async fn refusals_of_the_api_itself_are_its_answer() {
    let (mut fixture, _) = ClientFixture::registered().await;
    for (status, code) in [(401, "invalid_token"), (403, "quota"), (404, "no_such_event"), (500, "oops")] {
        fixture.service.answers(EVENTS, [refusal(status, code)]);
        assert_eq!(fixture.agent.call(&list_events(), at(1)).await.unwrap().status.as_u16(), status);
    }
    assert_eq!(fixture.service.received_at(REGISTER).len(), 1);
}

#[tokio::test]
async fn a_limit_says_when_to_try_again() {
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers(EVENTS, [with(refusal(429, "usage_limit_reached"), "retry-after", "120")]);
    let error = fixture.agent.call(&list_events(), at(1)).await.unwrap_err();
    assert!(matches!(error, CallError::Refused(refused) if refused.retry_after == Some(120)));
    assert_eq!(fixture.service.received_at(EVENTS).len(), 1);
}

fn kid(jwt: &str) -> String {
    countersign_jose::peek(jwt).unwrap().kid
}
