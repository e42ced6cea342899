//! Operator JWTs: kind, time, audience and issuer (AAP 4.1, 19, 23.2).

use super::support::{
    IAT, KEY, KEYS, NOW, OPERATOR, SERVICE, delegation_claims, expected, operator_claims, receipt_claims, signed, with,
};
use countersign_jose::{Expected, OperatorRefusal, verify_operator};
use countersign_protocol::aap::{consent_receipt, delegation_token, operator_jwt};
use countersign_protocol::domain::Domain;
use countersign_protocol::facts::VerifiedOperator;
use countersign_protocol::hash::Digest;
use countersign_protocol::time::UnixMillis;
use serde_json::{Value, json};

fn verify(jwt: &str, now: UnixMillis) -> Result<VerifiedOperator, OperatorRefusal> {
    verify_operator(jwt, &KEYS, expected(), now)
}

fn claims(member: &str, value: Value) -> Result<VerifiedOperator, OperatorRefusal> {
    verify(&signed(&with(operator_claims(), member, value)), NOW)
}

fn lifetime(iat: i64, exp: i64, now: UnixMillis) -> Result<VerifiedOperator, OperatorRefusal> {
    verify(&signed(&with(with(operator_claims(), "iat", iat.into()), "exp", exp.into())), now)
}

/// AAP-19-03
#[test]
fn another_kind_of_token_is_no_operator_jwt() {
    for foreign in [receipt_claims(), with(delegation_claims(), "iss", OPERATOR.into())] {
        assert_eq!(verify(&signed(&foreign), NOW), Err(OperatorRefusal::WrongKind));
    }
    for claim in operator_jwt::FOREIGN_CLAIMS {
        assert_eq!(claims(claim, json!(["x"])), Err(OperatorRefusal::WrongKind), "{claim}");
    }
    for typ in [consent_receipt::TYP, delegation_token::TYP, "dpop+jwt", "at+jwt", "aap-operator", ""] {
        let jwt = KEY.sign(typ, &operator_claims()).unwrap();
        assert_eq!(verify(&jwt, NOW), Err(OperatorRefusal::WrongKind), "{typ}");
    }
}

/// AAP-20.1-02
#[test]
fn a_kid_among_the_claims_may_not_contradict_the_header() {
    for kid in [json!("op-2"), json!(1), json!("OP-1"), json!("")] {
        assert_eq!(claims("kid", kid), Err(OperatorRefusal::KidContradiction));
    }
    assert!(claims("kid", Value::Null).is_ok(), "the header's alone is enough");
}

#[test]
fn every_claim_is_required_and_of_its_type() {
    for claim in ["iss", "aud", "iat", "exp"] {
        for value in [Value::Null, json!([]), json!({}), json!(true)] {
            assert!(matches!(claims(claim, value), Err(OperatorRefusal::Claims(_))), "{claim}");
        }
    }
    for claim in ["iat", "exp"] {
        for value in [json!(1_748_822_400.0), json!(1_748_822_400.5), json!("1748822400")] {
            assert!(matches!(claims(claim, value), Err(OperatorRefusal::Claims(_))), "{claim}");
        }
    }
}

#[test]
fn a_token_that_ends_before_it_begins_is_expired_before_all_else() {
    assert_eq!(lifetime(IAT, IAT, NOW), Err(OperatorRefusal::Expired));
    assert_eq!(lifetime(IAT, IAT - 1, NOW), Err(OperatorRefusal::Expired));
    assert_eq!(lifetime(IAT + 999, IAT + 998, NOW), Err(OperatorRefusal::Expired));
    let wrong_audience_too = with(with(operator_claims(), "exp", (IAT - 1).into()), "aud", "https://x.example".into());
    assert_eq!(verify(&signed(&wrong_audience_too), NOW), Err(OperatorRefusal::Expired));
}

#[test]
fn clocks_may_differ_by_300_seconds_and_no_more() {
    let at = UnixMillis::from_secs;
    assert!(lifetime(IAT, IAT + 60, at(IAT + 360)).is_ok());
    assert_eq!(lifetime(IAT, IAT + 60, at(IAT + 360).plus_millis(1)), Err(OperatorRefusal::Expired));
    assert!(lifetime(IAT, IAT + 60, at(IAT - 300)).is_ok());
    assert_eq!(lifetime(IAT, IAT + 60, at(IAT - 300).plus_millis(-1)), Err(OperatorRefusal::FromTheFuture));
}

/// AAP-G-12
#[test]
fn before_its_nbf_a_token_does_not_count_and_clocks_may_differ_by_300_seconds() {
    let nbf = NOW.secs() + 300;
    assert!(claims("nbf", nbf.into()).is_ok());
    assert_eq!(claims("nbf", (nbf + 1).into()), Err(OperatorRefusal::TooEarly));
    for value in [json!(1.5), json!("1748822400"), json!(true)] {
        assert!(matches!(claims("nbf", value), Err(OperatorRefusal::Claims(_))));
    }
}

#[test]
fn a_token_lives_an_hour_and_the_clocks_skew_at_most() {
    assert!(lifetime(IAT, IAT + 3900, NOW).is_ok());
    assert_eq!(lifetime(IAT, IAT + 3901, NOW), Err(OperatorRefusal::TooLongLived));
    assert_eq!(lifetime(-9_007_199_254_740_991, 9_007_199_254_740_991, NOW), Err(OperatorRefusal::TooLongLived));
}

#[test]
fn the_audience_is_the_service_byte_for_byte() {
    let near = ["https://test-service.aap.dev/", "https://Test-Service.aap.dev", "https://test-service.aap.dev:443"];
    for aud in near.into_iter().chain(["test-service.aap.dev", "", "https://test-service.aap.dev/agent"]) {
        assert_eq!(claims("aud", aud.into()), Err(OperatorRefusal::WrongAudience), "{aud}");
    }
    assert!(matches!(claims("aud", json!([SERVICE])), Err(OperatorRefusal::Claims(_))), "a list is not the service");
}

#[test]
fn an_operator_speaks_for_itself_only() {
    for iss in ["other.example", "agents.test-operator.aap.dev", "aap.dev", "xtest-operator.aap.dev"] {
        assert_eq!(claims("iss", iss.into()), Err(OperatorRefusal::WrongIssuer), "{iss}");
    }
    let other = Domain::parse("other.example").unwrap();
    let expected = Expected { operator: &other, service: SERVICE };
    assert_eq!(
        verify_operator(&signed(&operator_claims()), &KEYS, expected, NOW),
        Err(OperatorRefusal::WrongIssuer),
        "with the keys of one operator, another's name is worth nothing"
    );
    for spelling in ["Test-Operator.aap.dev", "test-operator.aap.dev.", "https://test-operator.aap.dev", "127.0.0.1"] {
        assert!(matches!(claims("iss", spelling.into()), Err(OperatorRefusal::Claims(_))), "{spelling}");
    }
}

/// AAP-19-03
#[test]
fn a_good_token_is_a_fact() {
    for typ in [operator_jwt::TYP, "JWT", "jwt", "application/aap-operator+jwt"] {
        let jwt = KEY.sign(typ, &operator_claims()).unwrap();
        let fact = verify(&jwt, NOW).unwrap();
        assert_eq!((fact.domain().as_str(), fact.kid()), (OPERATOR, "op-1"));
        assert_eq!(fact.expires_at(), UnixMillis::from_secs(IAT + 3600));
        assert_eq!(*fact.sha256(), Digest::of(jwt.as_bytes()));
    }
    let untyped = KEY.sign_with_header(&json!({ "alg": "ES256", "kid": "op-1" }), &operator_claims()).unwrap();
    assert!(verify(&untyped, NOW).is_ok());
    let with_scopes = KEY.sign(operator_jwt::TYP, &with(operator_claims(), "scopes", json!([])));
    assert!(verify(&with_scopes.unwrap(), NOW).is_ok(), "a stated kind needs no guessing");
    assert!(claims("a claim of tomorrow", json!({})).is_ok(), "unknown claims are ignored (AAP 22.4)");
}
