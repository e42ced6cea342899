//! Consent receipts: shape, audience and time (AAP 12, 19.3).

use super::support::{
    IAT, KEY, KEYS, NOW, OPERATOR, SERVICE, delegation_claims, expected, operator_claims, receipt_claims, signed, with,
};
use countersign_jose::{ReceiptRefusal, verify_receipt};
use countersign_protocol::aap::consent_receipt::{ConsentMethod, Intent, NewReceipt, ReceiptClaims, TYP, UsageLimits};
use countersign_protocol::aap::{delegation_token, operator_jwt};
use countersign_protocol::facts::VerifiedReceipt;
use countersign_protocol::hash::Digest;
use countersign_protocol::time::UnixMillis;
use serde_json::{Value, json};

fn verify(jwt: &str, now: UnixMillis) -> Result<VerifiedReceipt, ReceiptRefusal> {
    verify_receipt(jwt, &KEYS, expected(), now)
}

fn claims(member: &str, value: Value) -> Result<VerifiedReceipt, ReceiptRefusal> {
    verify(&signed(&with(receipt_claims(), member, value)), NOW)
}

fn assert_invalid(member: &str, value: Value) {
    let outcome = claims(member, value.clone());
    assert!(matches!(outcome, Err(ReceiptRefusal::Claims(_))), "{member}: {value} gave {outcome:?}");
}

/// AAP-19-03
#[test]
fn another_kind_of_token_is_no_receipt() {
    let delegation = with(delegation_claims(), "iss", OPERATOR.into());
    for foreign in [operator_claims(), delegation] {
        assert!(matches!(verify(&signed(&foreign), NOW), Err(ReceiptRefusal::Claims(_))));
    }
    for typ in [operator_jwt::TYP, delegation_token::TYP, "dpop+jwt", "consent"] {
        let jwt = KEY.sign(typ, &receipt_claims()).unwrap();
        assert_eq!(verify(&jwt, NOW), Err(ReceiptRefusal::WrongKind), "{typ}");
    }
}

/// AAP-19.3-01
#[test]
fn every_required_claim_is_required() {
    let required =
        ["iss", "aud", "sub", "delegation_id", "intent", "scopes", "consent_method", "session_id", "iat", "exp"];
    for claim in required {
        assert_invalid(claim, Value::Null);
        assert_invalid(claim, json!({}));
    }
}

/// AAP-19.3-02
#[test]
fn the_issuer_is_the_operator_s_hostname() {
    for iss in ["https://test-operator.aap.dev", "test-operator.aap.dev:443", "Test-Operator.aap.dev"] {
        assert_invalid("iss", iss.into());
    }
    // Neither a subdomain nor a parent domain speaks for the operator.
    for iss in ["other.example", "agents.test-operator.aap.dev", "aap.dev", "xtest-operator.aap.dev"] {
        assert_eq!(claims("iss", iss.into()), Err(ReceiptRefusal::WrongIssuer), "{iss}");
    }
}

#[test]
fn an_intent_has_500_characters_at_most_and_is_not_kept() {
    assert_invalid("intent", "é".repeat(501).into());
    let fact = claims("intent", "é".repeat(500).into()).unwrap();
    assert!(!format!("{fact:?}").contains('é'));
    assert!(!json!(fact.claims()).to_string().contains('é'));
    let refusal = claims("intent", "the person's own words ".repeat(50).into()).unwrap_err();
    assert!(!format!("{refusal:?} {refusal}").contains("own words"), "a refusal must not repeat it either");
}

/// AAP-19.3-05
#[test]
fn scopes_are_a_list_of_at_least_one_string() {
    for scopes in [json!([]), json!("calendar.read"), json!([1]), json!(["calendar.read", null])] {
        assert_invalid("scopes", scopes);
    }
}

#[test]
fn the_consent_method_is_one_of_two() {
    for method in ["", "implicit", "EXPLICIT_UI"] {
        assert_invalid("consent_method", method.into());
    }
    let fact = claims("consent_method", "admin_bootstrap".into()).unwrap();
    assert_eq!(fact.claims().consent_method, ConsentMethod::AdminBootstrap);
}

/// AAP-19.3-07
#[test]
fn usage_limits_are_integers_of_at_least_one() {
    for member in ["requests_per_hour", "writes_per_session", "max_data_egress_kb"] {
        for value in [json!(0), json!(-1), json!(1.5), json!(1.0), json!("10"), json!(null)] {
            assert_invalid("usage_limits", json!({ member: value }));
        }
    }
    assert_invalid("usage_limits", json!([]));
    let fact = claims("usage_limits", json!({ "writes_per_session": 1, "per_fortnight": 0 })).unwrap();
    let limits = UsageLimits { writes_per_session: Some(1), ..UsageLimits::default() };
    assert_eq!(fact.claims().usage_limits, Some(limits));
}

/// AAP-19.3-08
#[test]
fn an_execution_window_has_two_date_times() {
    let good = "2025-06-02T00:00:00Z";
    for window in [
        json!({ "earliest": good }),
        json!({ "latest": good }),
        json!({ "earliest": good, "latest": "2025-06-03" }),
        json!({ "earliest": good, "latest": "tomorrow" }),
        json!({ "earliest": IAT, "latest": good }),
        json!([good, good]),
    ] {
        assert_invalid("execution_window", window);
    }
}

/// AAP-19.3-09
#[test]
fn iat_and_exp_are_integers() {
    for claim in ["iat", "exp"] {
        for value in [json!(1_748_822_400.0), json!("1748822400"), json!(1.5), json!(null), json!([IAT])] {
            assert_invalid(claim, value);
        }
    }
}

#[test]
fn session_ids_have_8_to_128_characters() {
    assert_invalid("session_id", "s".repeat(7).into());
    assert_invalid("session_id", "s".repeat(129).into());
    assert!(claims("session_id", "s".repeat(128).into()).is_ok());
}

/// AAP-19.3-10
#[test]
fn the_audience_is_the_service_byte_for_byte() {
    for aud in ["https://test-service.aap.dev/", "https://Test-Service.aap.dev", "https://test-service.aap.dev:443"] {
        assert_eq!(claims("aud", aud.into()), Err(ReceiptRefusal::WrongService), "{aud}");
    }
    let expired_too = with(with(receipt_claims(), "aud", "https://x.example".into()), "exp", (IAT - 1).into());
    assert_eq!(verify(&signed(&expired_too), NOW), Err(ReceiptRefusal::WrongService), "audience comes first");
}

#[test]
fn a_receipt_expires_with_its_exp_and_the_skew() {
    let end = UnixMillis::from_secs(IAT + 86_400 + 300);
    let jwt = signed(&receipt_claims());
    assert!(verify(&jwt, end).is_ok());
    assert_eq!(verify(&jwt, end.plus_millis(1)), Err(ReceiptRefusal::Expired));
    assert_eq!(claims("exp", IAT.into()), Err(ReceiptRefusal::Expired));
    assert_eq!(claims("iat", (IAT + 361).into()), Err(ReceiptRefusal::FromTheFuture));
}

/// AAP-G-12
#[test]
fn before_its_nbf_a_receipt_does_not_count_and_clocks_may_differ_by_300_seconds() {
    let nbf = NOW.secs() + 300;
    assert!(claims("nbf", nbf.into()).is_ok());
    let refused = claims("nbf", (nbf + 1).into()).unwrap_err();
    assert_eq!(refused, ReceiptRefusal::TooEarly);
    assert!(refused.is_expired());
    for value in [json!(1.5), json!("1748822400"), json!(true)] {
        assert_invalid("nbf", value);
    }
}

#[test]
fn outside_its_window_a_receipt_is_expired_on_either_side() {
    let window = json!({ "earliest": "2025-06-02T01:00:00Z", "latest": "2025-06-02T04:00:00+02:00" });
    let jwt = signed(&with(receipt_claims(), "execution_window", window));
    let (earliest, latest) = (UnixMillis::from_secs(IAT + 3600), UnixMillis::from_secs(IAT + 7200));
    let before = verify(&jwt, earliest.plus_secs(-300).plus_millis(-1)).unwrap_err();
    let after = verify(&jwt, latest.plus_secs(300).plus_millis(1)).unwrap_err();
    assert_eq!((&before, &after), (&ReceiptRefusal::WindowNotOpen, &ReceiptRefusal::WindowOver));
    assert!(before.is_expired() && after.is_expired());
    assert!(verify(&jwt, earliest.plus_secs(-300)).is_ok() && verify(&jwt, latest.plus_secs(300)).is_ok());
}

#[test]
fn a_kid_among_the_claims_may_not_contradict_the_header() {
    assert_eq!(claims("kid", "op-2".into()), Err(ReceiptRefusal::KidContradiction));
    assert!(claims("kid", "op-1".into()).is_ok());
}

/// AAP-19.3-01
#[test]
fn a_receipt_of_our_own_making_passes_and_its_intent_tells_nothing() {
    let intent = Intent::salted(&[7; 16], "pay Sarah's invoice");
    let claims: ReceiptClaims = ReceiptClaims::parse(receipt_claims().as_object().unwrap()).unwrap();
    let jwt = KEY.sign(TYP, &NewReceipt { claims: claims.clone(), intent }).unwrap();
    let fact = verify(&jwt, NOW).unwrap();
    assert_eq!((fact.claims(), fact.kid()), (&claims, "op-1"));
    assert_eq!(*fact.sha256(), Digest::of(jwt.as_bytes()));
    assert_eq!((fact.issued_at().secs(), fact.expires_at().secs()), (IAT, IAT + 86_400));
    assert!(intent.to_string().starts_with("sha256:") && !intent.to_string().contains("Sarah"));
    assert_ne!(intent, Intent::salted(&[8; 16], "pay Sarah's invoice"), "a guess cannot be tested without the salt");
    assert_eq!(claims.aud, SERVICE);
}
