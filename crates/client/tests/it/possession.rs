//! Key-bound tokens: a proof with every request, and nonces demanded by services.

use crate::{
    fixture::{ClientFixture, SERVICE, access, at, config, create_event, delegation, list_events, manifest},
    service::{EVENTS, MANIFEST, REGISTER, Service, header, ok, refusal, with},
};
use countersign_client::{
    agent::{AgentCall, AgentConfig, CallError, DiscoverError, RegisterError, WireError},
    transport::{Request, Response},
};
use countersign_jose::{ExpectedProof, ProofKeys, verify_dpop};
use countersign_protocol::{facts::VerifiedProof, hash::Digest, origin::Origin};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const DEMANDED: &str = r#"DPoP error="use_dpop_nonce", algs="ES256 PS256""#;

/// Register responds with bound tokens for this session, starting with `access-1`.
fn binds(service: &Service, session_id: &str) {
    service.answers(REGISTER, (1..=9).map(|n| ok(&bound(&format!("access-{n}"), session_id))));
}

fn bound(token: &str, session_id: &str) -> Value {
    let mut answer = access(token, session_id);
    answer["token_type"] = json!("DPoP");
    answer
}

async fn registered_at(fixture: &mut ClientFixture) -> String {
    let receipt = fixture.consents();
    binds(&fixture.service, receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    receipt.session_id().to_owned()
}

async fn registered() -> ClientFixture {
    let mut fixture = ClientFixture::connected().await;
    registered_at(&mut fixture).await;
    fixture
}

/// The proof of a request, verified like a service does.
fn proven(request: &Request, token: Option<&str>, now: i64) -> VerifiedProof {
    let url = request.url.split('?').next().unwrap();
    let token = token.map(|token| Digest::of(token.as_bytes()));
    let expected = ExpectedProof { method: request.method.as_str(), url, token: token.as_ref() };
    verify_dpop(&header(request, "dpop"), &expected, at(now), &ProofKeys::default()).unwrap()
}

fn demanding(nonce: &str) -> Response {
    with(with(refusal(401, "dpop_invalid"), "www-authenticate", DEMANDED), "dpop-nonce", nonce)
}

fn nonces(fixture: &ClientFixture, path: &str) -> Vec<Option<String>> {
    let nonce = |request: &Request| {
        let payload = crate::consent::payload(&header(request, "dpop"));
        payload.get("nonce").map(|nonce| nonce.as_str().unwrap().to_owned())
    };
    fixture.service.received_at(path).iter().map(nonce).collect()
}

/// AAP-18.4-04
#[tokio::test]
async fn a_demanded_nonce_is_given_once_and_no_third_request_is_made() {
    let mut fixture = registered().await;
    fixture.service.answers(EVENTS, [demanding("n-1"), demanding("n-2"), ok(&json!({}))]);
    let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    assert!(matches!(error, CallError::Refused(refused) if refused.code == "dpop_invalid"));
    assert_eq!(nonces(&fixture, EVENTS), [None, Some("n-1".into())]);
    assert_eq!(fixture.service.received_at(REGISTER).len(), 1, "another token would not help");
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    assert_eq!(nonces(&fixture, EVENTS).last(), Some(&Some("n-2".into())));
}

/// AAP-18.4-04
#[tokio::test]
async fn a_demanded_nonce_is_included_on_retry_at_register_and_at_calls() {
    let mut fixture = ClientFixture::connected().await;
    let receipt = fixture.consents();
    fixture.service.answers(REGISTER, [demanding("n-1"), ok(&bound("access-1", receipt.session_id()))]);
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    assert_eq!(nonces(&fixture, REGISTER), [None, Some("n-1".into())]);
    fixture.service.answers(EVENTS, [demanding("n-2"), ok(&json!({}))]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    assert_eq!(nonces(&fixture, EVENTS), [Some("n-1".into()), Some("n-2".into())]);
    let asked = fixture.service.received_at(EVENTS);
    assert_eq!(asked[0].body, asked[1].body);
    assert_ne!(proven(&asked[0], Some("access-1"), 1).jti(), proven(&asked[1], Some("access-1"), 1).jti());
}

#[tokio::test]
async fn only_a_challenge_with_a_new_nonce_is_worth_another_request() {
    let challenge = |status| with(refusal(status, "dpop_invalid"), "www-authenticate", DEMANDED);
    let other = with(refusal(401, "dpop_invalid"), "www-authenticate", r#"DPoP error="invalid_dpop_proof""#);
    let cases = [
        challenge(401),
        with(challenge(401), "dpop-nonce", ""),
        with(challenge(401), "dpop-nonce", &"n".repeat(1025)),
        with(other, "dpop-nonce", "n-1"),
        with(challenge(403), "dpop-nonce", "n-1"),
        with(challenge(200), "dpop-nonce", "n-1"),
    ];
    for answer in cases {
        let mut fixture = registered().await;
        fixture.service.answers(EVENTS, [answer]);
        let _ = fixture.agent.call(&create_event(), at(1)).await;
        assert_eq!(fixture.service.received_at(EVENTS).len(), 1);
    }
    let mut fixture = registered().await;
    fixture.service.answers(EVENTS, [with(ok(&json!({})), "dpop-nonce", "n-1"), demanding("n-1")]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    assert_eq!(nonces(&fixture, EVENTS), [None, Some("n-1".into())], "the same again would be refused again");
}

/// AAP-18.4-04
#[tokio::test]
async fn a_nonce_that_rides_on_a_success_is_used_next_and_at_its_own_origin_only() {
    let api = Origin::parse("https://api.calendar.example").unwrap();
    let mut fixture = ClientFixture::with(&manifest(), AgentConfig { api: Some(api), ..config() });
    fixture.agent.restore(delegation());
    fixture.service.answers(MANIFEST, [with(ok(&manifest()), "dpop-nonce", "service-1")]);
    let session_id = {
        let receipt = fixture.consents();
        let answer = with(ok(&bound("access-1", receipt.session_id())), "dpop-nonce", "service-2");
        fixture.service.answers(REGISTER, [answer]);
        fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
        receipt.session_id().to_owned()
    };
    assert_eq!(nonces(&fixture, REGISTER), [Some("service-1".into())]);
    fixture.service.answers(EVENTS, [with(ok(&json!({})), "dpop-nonce", "api-1")]);
    fixture.agent.call(&list_events(), at(1)).await.unwrap();
    fixture.agent.call(&list_events(), at(1)).await.unwrap();
    assert_eq!(nonces(&fixture, EVENTS), [None, Some("api-1".into())]);
    binds(&fixture.service, &session_id);
    fixture.agent.call(&list_events(), at(3601)).await.unwrap();
    assert_eq!(nonces(&fixture, REGISTER)[1], Some("service-2".into()));
}

/// AAP-13.1-02, AAP-18.1-01
#[tokio::test]
async fn each_session_has_a_key_of_its_own_and_keeps_it() {
    let mut fixture = ClientFixture::connected().await;
    let receipt = fixture.consents();
    fixture.service.answers(REGISTER, [refusal(503, "service_unavailable")]);
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap_err();
    binds(&fixture.service, receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    fixture.agent.call(&create_event(), at(3601)).await.unwrap();
    registered_at(&mut fixture).await;
    let keys: Vec<Digest> = fixture
        .service
        .received_at(REGISTER)
        .iter()
        .zip([0, 0, 3601, 0])
        .map(|(r, now)| *proven(r, None, now).jkt())
        .collect();
    assert_eq!(keys.len(), 4);
    assert!(keys[0] == keys[1] && keys[1] == keys[2], "a lost answer and a new token are no new session");
    assert_ne!(keys[2], keys[3]);
    assert_eq!(*proven(&fixture.service.received_at(EVENTS)[0], Some("access-2"), 3601).jkt(), keys[2]);
}

/// AAP-18.3-01, AAP-18.3-02, AAP-18.3-04, AAP-18.3-05, AAP-18.3-06
#[tokio::test]
async fn register_and_every_call_carry_a_proof_of_their_own() {
    let mut fixture = registered().await;
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    fixture.agent.call(&AgentCall::get(format!("{EVENTS}?page=2")).intent_type("READ_CALENDAR"), at(2)).await.unwrap();
    let register = &fixture.service.received_at(REGISTER)[0];
    assert!(crate::consent::payload(&header(register, "dpop")).get("ath").is_none());
    let mut jtis = BTreeSet::from([proven(register, None, 0).jti().to_owned()]);
    let asked = fixture.service.received_at(EVENTS);
    assert_eq!(asked.len(), 2);
    for (request, now) in asked.iter().zip([1, 2]) {
        assert_eq!(header(request, "authorization"), "DPoP access-1");
        let htu = crate::consent::payload(&header(request, "dpop"))["htu"].clone();
        assert_eq!(htu, format!("{SERVICE}{EVENTS}"));
        let proof = proven(request, Some("access-1"), now);
        assert_eq!(proof.issued_at(), at(now));
        jtis.insert(proof.jti().to_owned());
    }
    assert_eq!(jtis.len(), 3, "no jti twice");
    assert!(jtis.iter().all(|jti| is_uuid_v4(jti)), "{jtis:?}");
}

/// C-28
#[tokio::test]
async fn revoking_and_cancelling_are_proven_with_the_sessions_key_and_reading_the_audit_is_not() {
    let mut fixture = ClientFixture::connected().await;
    let session_id = registered_at(&mut fixture).await;
    let key = *proven(&fixture.service.received_at(REGISTER)[0], None, 0).jkt();
    let cancelled = json!({ "cancelled_at": "2026-06-01T00:00:00Z", "rollback_status": "not_supported" });
    fixture.service.answers("/agent/cancel", [ok(&cancelled)]);
    fixture.service.answers("/agent/audit", [ok(&json!({ "entries": [], "next_cursor": null, "total_count": 0 }))]);
    let revoked = json!({ "revoked_at": "2026-06-01T00:00:00Z", "delegation_id": "del_k9x2mq" });
    fixture.service.answers("/agent/revoke", [ok(&revoked)]);
    fixture.agent.audit(&Default::default(), at(1)).await.unwrap();
    fixture.agent.cancel("sess_of_another_task", None, at(1)).await.unwrap();
    fixture.agent.cancel(&session_id, None, at(1)).await.unwrap();
    registered_at(&mut fixture).await;
    fixture.agent.revoke(None, at(1)).await.unwrap();
    assert_eq!(header(&fixture.service.received_at("/agent/audit")[0], "dpop"), "");
    let cancels = fixture.service.received_at("/agent/cancel");
    assert_ne!(*proven(&cancels[0], None, 1).jkt(), key, "no key is shared between sessions");
    assert_eq!(*proven(&cancels[1], None, 1).jkt(), key);
    let second = *proven(&fixture.service.received_at(REGISTER)[1], None, 0).jkt();
    assert_eq!(*proven(&fixture.service.received_at("/agent/revoke")[0], None, 1).jkt(), second);
}

#[tokio::test]
async fn a_service_that_binds_nothing_gets_a_bearer_token_and_no_proof_of_calls() {
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    let asked = &fixture.service.received_at(EVENTS)[0];
    assert_eq!((header(asked, "authorization").as_str(), header(asked, "dpop").as_str()), ("Bearer access-1", ""));
    proven(&fixture.service.received_at(REGISTER)[0], None, 0);
}

/// If the manifest requires bound tokens, a bearer token is refused: a thief could use it.
#[tokio::test]
async fn where_binding_is_demanded_a_bearer_token_is_not_used() {
    let mut demanding = manifest();
    demanding["dpop_required"] = json!(true);
    let mut fixture = ClientFixture::at(&demanding);
    fixture.agent.restore(delegation());
    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    let error = fixture.agent.register(Some(&receipt), at(0)).await.unwrap_err();
    assert_eq!(error, RegisterError::Wire(WireError::BadAnswer { endpoint: "register" }));
    binds(&fixture.service, receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();

    let mut fixture = ClientFixture::with(&demanding, AgentConfig { dpop: false, ..config() });
    fixture.agent.restore(delegation());
    let error = fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(error, RegisterError::Discover(DiscoverError::ProofOfPossession));
    assert!(fixture.service.received_at(REGISTER).is_empty());
}

#[tokio::test]
async fn an_agent_configured_without_proofs_sends_none() {
    let mut fixture = ClientFixture::with(&manifest(), AgentConfig { dpop: false, ..config() });
    fixture.agent.restore(delegation());
    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    fixture.service.answers(EVENTS, [demanding("n-1")]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    assert!(fixture.service.received().iter().all(|request| !request.headers.contains_key("dpop")));
    assert_eq!(fixture.service.received_at(EVENTS).len(), 1);
}

/// AAP-16.2-25
#[tokio::test]
async fn a_bound_token_is_renewed_on_401_and_never_on_403() {
    let mut fixture = registered().await;
    fixture.service.answers(EVENTS, [refusal(403, "scope_not_granted")]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    assert_eq!((fixture.service.received_at(REGISTER).len(), fixture.service.received_at(EVENTS).len()), (1, 1));
    fixture.service.answers(EVENTS, [refusal(401, "access_token_expired"), ok(&json!({}))]);
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    let asked = fixture.service.received_at(EVENTS);
    assert_eq!(fixture.service.received_at(REGISTER).len(), 2);
    assert_eq!(header(&asked[2], "authorization"), "DPoP access-2");
    proven(&asked[2], Some("access-2"), 1);
}

/// AAP-18.3-01, AAP-18.4-04
#[tokio::test]
async fn questions_are_asked_with_the_sessions_token_and_key() {
    let mut fixture = ClientFixture::connected().await;
    assert!(fixture.agent.decisions(Box::new(|| 0), Box::new(|| at(5))).is_none());
    registered_at(&mut fixture).await;
    let key = *proven(&fixture.service.received_at(REGISTER)[0], None, 0).jkt();
    fixture.service.answers("/v1/decisions/dec_1", [demanding("n-1"), refusal(404, "not_found")]);
    let decisions = fixture.agent.decisions(Box::new(|| 0), Box::new(|| at(5))).unwrap();
    decisions.get("dec_1").await.unwrap_err();
    let asked = fixture.service.received_at("/v1/decisions/dec_1");
    assert_eq!(asked.len(), 2);
    for (request, nonce) in asked.iter().zip([None, Some("n-1")]) {
        assert_eq!(header(request, "authorization"), "DPoP access-1");
        let proof = proven(request, Some("access-1"), 5);
        assert_eq!((*proof.jkt(), proof.nonce()), (key, nonce));
    }
}

/// RFC 9562 5.4.
fn is_uuid_v4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(hex)
        && parts[2].starts_with('4')
        && parts[3].starts_with(['8', '9', 'a', 'b'])
}
