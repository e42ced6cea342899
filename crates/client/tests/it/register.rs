//! Opening a session and keeping it open.

use crate::{
    fixture::{
        ClientFixture, OPERATOR, SERVICE, access, at, config, create_event, delegation, delegation_token, list_events,
        manifest, task,
    },
    service::{EVENTS, MANIFEST, REGISTER, ok, refusal, with},
};
use countersign_client::{
    Delegation,
    agent::{AgentConfig, CallError, Lost, Notice, RegisterError, WireError},
};
use serde_json::json;

/// AAP-11.5-03
#[tokio::test]
async fn the_disclosure_is_shown_before_the_first_interaction_and_again_when_it_changes() {
    let disclosure = |text: &str| Notice::ModeDisclosure {
        service: SERVICE.to_owned(),
        mode: "user_delegated".to_owned(),
        text: text.to_owned(),
    };
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    let told = fixture.notices_since();
    assert_eq!(told[0], disclosure("It acts as you."));
    assert!(matches!(told[1], Notice::PleaseConnect { .. }));

    let mut fixture = ClientFixture::new();
    fixture.agent.restore(delegation());
    fixture.service.answers(REGISTER, [refusal(503, "service_unavailable")]);
    fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(fixture.notices_since(), [disclosure("It acts as you.")]);
    fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(fixture.notices_since(), []);

    let mut reworded = manifest();
    reworded["disclosures"]["user_delegated"] = json!("It acts as you,\u{1b}[2J and as nobody else.");
    fixture.service.answers(MANIFEST, [ok(&reworded)]);
    fixture.agent.discover().await.unwrap();
    fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(fixture.notices_since(), [disclosure("It acts as you, [2J and as nobody else.")]);

    let mut silent = manifest();
    silent["disclosures"] = json!({});
    let mut fixture = ClientFixture::at(&silent);
    fixture.agent.call(&list_events(), at(0)).await.unwrap_err();
    assert!(matches!(&fixture.notices()[0], Notice::ModeDisclosure { text, .. } if !text.is_empty()));
}

#[tokio::test]
async fn a_session_is_that_of_the_task_that_was_approved() {
    let (fixture, receipt) = ClientFixture::registered().await;
    let body = &fixture.service.bodies(REGISTER)[0];
    assert_eq!(body["mode"], "user_delegated");
    assert_eq!(body["session_id"], receipt.session_id());
    assert_eq!(body["consent_receipt"], receipt.jwt());
    assert_eq!(body["delegation_token"], fixture.agent.delegation().unwrap().token());
    assert_eq!(fixture.agent.session_id(), Some(receipt.session_id()));
}

#[tokio::test]
async fn a_receipt_or_a_delegation_for_somewhere_else_is_not_shown_here() {
    let mut fixture = ClientFixture::connected().await;
    for (service, operator) in [("https://bank.example", OPERATOR), (SERVICE, "other.example")] {
        fixture.agent.restore(Delegation::from_token(&delegation_token(service, operator)).unwrap());
        assert_eq!(fixture.agent.register(None, at(0)).await.unwrap_err(), RegisterError::ForeignDelegation);
    }
    let mut bank = manifest();
    bank["service"] = json!("https://bank.example");
    let bank = countersign_protocol::aap::manifest::Manifest::parse(bank.to_string().as_bytes()).unwrap();
    let elsewhere = Delegation::from_token(&delegation_token("https://bank.example", OPERATOR)).unwrap();
    let receipt = fixture.desk().propose(&bank, &elsewhere, task()).unwrap().approve(at(0)).unwrap();
    fixture.agent.restore(delegation());
    assert_eq!(fixture.agent.register(Some(&receipt), at(0)).await.unwrap_err(), RegisterError::ForeignReceipt);
    assert_eq!(fixture.service.paths(), [MANIFEST]);
}

/// The agent refuses a bound token without a key of its own, and a token for another session.
#[tokio::test]
async fn an_answer_that_cannot_be_right_is_not_used() {
    let mut fixture = ClientFixture::with(&manifest(), AgentConfig { dpop: false, ..config() });
    fixture.agent.restore(delegation());
    let receipt = fixture.consents();
    let mut bound = access("access-1", receipt.session_id());
    bound["token_type"] = json!("DPoP");
    let mut unsendable = access("access-1\r\nX-Agent-Intent: x", receipt.session_id());
    unsendable["token_type"] = json!("bearer");
    for answer in [bound, unsendable, access("access-1", "sess_of_somebody_else"), json!({})] {
        fixture.service.answers(REGISTER, [ok(&answer)]);
        let error = fixture.agent.register(Some(&receipt), at(0)).await.unwrap_err();
        assert_eq!(error, RegisterError::Wire(WireError::BadAnswer { endpoint: "register" }), "{answer}");
        assert_eq!(fixture.agent.session_id(), None);
    }
}

#[tokio::test]
async fn an_expired_token_is_renewed_with_a_fresh_operator_jwt_and_everything_else_the_same() {
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.agent.call(&create_event(), at(3599)).await.unwrap();
    assert_eq!(fixture.service.bodies(REGISTER).len(), 1);
    fixture.agent.call(&create_event(), at(3600)).await.unwrap();
    let registered = fixture.service.bodies(REGISTER);
    assert_eq!(registered.len(), 2);
    for member in ["session_id", "delegation_token", "consent_receipt", "mode"] {
        assert_eq!(registered[0][member], registered[1][member], "{member}");
    }
    assert_ne!(registered[0]["operator_jwt"], registered[1]["operator_jwt"]);
    let tokens: Vec<String> = fixture
        .service
        .received_at(EVENTS)
        .iter()
        .map(|request| crate::service::header(request, "authorization"))
        .collect();
    assert_eq!(tokens, ["Bearer access-1", "Bearer access-2"]);
}

/// AAP-16.2-07
#[tokio::test]
async fn a_delegation_that_was_revoked_before_registering_is_reported_and_dropped() {
    let mut fixture = ClientFixture::connected().await;
    let revoked = with(refusal(401, "delegation_revoked"), "x-agent-revoke-reason", "manual_revoke");
    fixture.service.answers(REGISTER, [revoked]);
    let reason = "manual_revoke".to_owned();
    let lost = Lost::CutOff { reason: reason.clone() };
    assert_eq!(fixture.agent.register(None, at(0)).await.unwrap_err(), RegisterError::Lost(lost));
    assert_eq!(fixture.notices().last(), Some(&Notice::AccessCutOff { service: SERVICE.to_owned(), reason }));
    fixture.agent.register(None, at(1)).await.unwrap_err();
    assert_eq!(fixture.service.received_at(REGISTER).len(), 1);
}

#[tokio::test]
async fn a_call_before_registering_is_not_made() {
    let mut fixture = ClientFixture::connected().await;
    assert_eq!(fixture.agent.call(&create_event(), at(0)).await.unwrap_err(), CallError::NotRegistered);
    assert_eq!(fixture.service.paths(), [MANIFEST]);
}
