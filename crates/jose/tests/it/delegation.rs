//! Delegation tokens: issued by us, complete, and without extra members (AAP 5.2, 19.4).

use super::support::{IAT, KEY, KEYS, NOW, SERVICE, delegation_claims, operator_claims, receipt_claims, signed, with};
use countersign_jose::{DelegationRefusal, NoKey, SigningKey, Unsigned, verify_delegation};
use countersign_protocol::aap::delegation_token::{DelegationClaims, TYP};
use countersign_protocol::aap::{consent_receipt, operator_jwt};
use countersign_protocol::facts::VerifiedDelegation;
use countersign_protocol::time::UnixMillis;
use serde_json::{Value, json};

fn verify(jwt: &str) -> Result<VerifiedDelegation, DelegationRefusal> {
    verify_delegation(jwt, &KEYS, &["https://old.aap.dev", SERVICE], NOW)
}

fn claims(member: &str, value: Value) -> Result<VerifiedDelegation, DelegationRefusal> {
    verify(&signed(&with(delegation_claims(), member, value)))
}

fn assert_invalid(member: &str, value: Value) {
    let outcome = claims(member, value.clone());
    assert!(matches!(outcome, Err(DelegationRefusal::Claims(_))), "{member}: {value} gave {outcome:?}");
}

/// AAP-19-03
#[test]
fn another_kind_of_token_is_no_delegation() {
    for foreign in [operator_claims(), receipt_claims()] {
        assert!(matches!(verify(&signed(&foreign)), Err(DelegationRefusal::Claims(_))));
    }
    for typ in [operator_jwt::TYP, consent_receipt::TYP, "at+jwt"] {
        assert_eq!(verify(&KEY.sign(typ, &delegation_claims()).unwrap()), Err(DelegationRefusal::WrongKind), "{typ}");
    }
}

#[test]
fn a_token_that_someone_else_signed_is_not_ours() {
    let theirs = SigningKey::generate(None).unwrap();
    let jwt = theirs.sign(TYP, &delegation_claims()).unwrap();
    assert_eq!(verify(&jwt), Err(DelegationRefusal::Unsigned(NoKey::Unknown.into())));
    let under_our_name = SigningKey::from_pkcs8(Some("op-1"), &theirs.to_pkcs8()).unwrap();
    let jwt = under_our_name.sign(TYP, &delegation_claims()).unwrap();
    assert_eq!(verify(&jwt), Err(DelegationRefusal::Unsigned(Unsigned::Signature)));
}

/// AAP-19.4-01
#[test]
fn every_claim_is_required() {
    for claim in ["iss", "sub", "delegated_to", "delegation_id", "scopes", "max_agent_ttl", "iat", "exp"] {
        assert_invalid(claim, Value::Null);
        assert_invalid(claim, json!({}));
    }
}

/// AAP-19.4-02
#[test]
fn the_issuer_is_the_base_uri_and_never_the_bare_host() {
    for iss in ["test-service.aap.dev", "https://test-service.aap.dev/", "https://other.example"] {
        assert_eq!(claims("iss", iss.into()), Err(DelegationRefusal::WrongIssuer), "{iss}");
    }
    assert!(claims("iss", "https://old.aap.dev".into()).is_ok(), "another origin of this service");
}

/// AAP-19.4-07
#[test]
fn a_further_claim_makes_it_none_of_ours() {
    for claim in ["effective_policy", "kid", "jti", "aud"] {
        assert_invalid(claim, "op-1".into());
    }
}

#[test]
fn claims_outside_their_bounds_are_refused() {
    assert_invalid("delegated_to", "https://test-operator.aap.dev".into());
    for id in ["del_abc", "k9x2mq", "del_K9X2MQ", "del_k9x2mq\n"] {
        assert_invalid("delegation_id", id.into());
    }
    for ttl in [json!(299), json!(86_401), json!(-1), json!(3600.0), json!("3600")] {
        assert_invalid("max_agent_ttl", ttl);
    }
    assert_invalid("scopes", json!([]));
    assert!(claims("max_agent_ttl", 300.into()).is_ok() && claims("max_agent_ttl", 86_400.into()).is_ok());
    assert_eq!(claims("iat", (IAT + 361).into()), Err(DelegationRefusal::FromTheFuture));
}

#[test]
fn expiry_is_separate_from_the_verdict() {
    let fact = verify(&signed(&delegation_claims())).unwrap();
    let end = UnixMillis::from_secs(IAT + 86_400 + 300);
    assert!(!fact.is_expired(end) && fact.is_expired(end.plus_millis(1)));
    assert!(claims("exp", (IAT - 1).into()).unwrap().is_expired(NOW), "over before it began");
}

#[test]
fn our_own_tokens_are_recognised() {
    let issued = DelegationClaims::parse(delegation_claims().as_object().unwrap()).unwrap();
    let fact = verify(&KEY.sign(TYP, &issued).unwrap()).unwrap();
    assert_eq!((fact.claims(), fact.kid()), (&issued, "op-1"));
}
