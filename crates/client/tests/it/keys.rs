//! An operator's keys: created, used, rotated, removed, stored.

use crate::fixture::{OPERATOR, SERVICE, at, identity, operator};
use countersign_client::operator::{BadKeyRing, KeyRing, OperatorKeys};
use countersign_jose::{Expected, KeyPolicy, KeySet, Sealer, SigningKey, peek, verify_operator};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use serde_json::Value;

const TWO_HOURS: i64 = 7200;

/// AAP-20.2-01
#[test]
fn old_and_new_key_are_published_together_for_two_hours_while_the_new_one_signs() {
    let operator = operator();
    let old = operator.operator_jwt(SERVICE, at(0)).unwrap();
    operator.rotate(at(0)).unwrap();
    let new = operator.operator_jwt(SERVICE, at(0)).unwrap();
    let (old_kid, new_kid) = (peek(&old).unwrap().kid, peek(&new).unwrap().kid);
    assert_ne!(old_kid, new_kid);
    for secs in [0, 3600, TWO_HOURS - 1, TWO_HOURS] {
        operator.tick(at(secs));
        assert_eq!(sorted(published(&operator, at(secs))), sorted(vec![old_kid.clone(), new_kid.clone()]), "{secs}");
    }
    let keys = KeySet::parse(&operator.documents(at(60))[1].body, &KeyPolicy::default()).unwrap();
    let domain = Domain::parse(OPERATOR).unwrap();
    for jwt in [old, new] {
        verify_operator(&jwt, &keys, Expected { operator: &domain, service: SERVICE }, at(60)).unwrap();
    }
}

/// AAP-20.2-02
#[test]
fn at_the_first_tick_after_the_overlap_the_old_key_is_gone() {
    let operator = operator();
    let old_kid = published(&operator, at(0));
    operator.rotate(at(0)).unwrap();
    let after = at(TWO_HOURS).plus_millis(1);
    assert_eq!(published(&operator, after).len(), 1, "also before anybody ticked");
    operator.tick(after);
    let left = published(&operator, after);
    assert_eq!(left.len(), 1);
    assert_ne!(left, old_kid);
    assert_eq!(published(&operator, at(0)), left, "it does not come back");
}

#[test]
fn a_key_stays_as_long_as_a_receipt_that_it_signed() {
    let fixture = crate::fixture::ClientFixture::new();
    let manifest = crate::fixture::parsed();
    let mut overnight = crate::fixture::task();
    overnight.window.latest = at(12 * 3600);
    fixture.desk().propose(&manifest, &crate::fixture::delegation(), overnight).unwrap().approve(at(0)).unwrap();
    fixture.operator.rotate(at(1)).unwrap();
    assert_eq!(published(&fixture.operator, at(12 * 3600)).len(), 2);
    assert_eq!(published(&fixture.operator, at(12 * 3600 + 1)).len(), 1);
    fixture.operator.withdraw_old_keys();
    assert_eq!(published(&fixture.operator, at(60)).len(), 1, "unless it is withdrawn");
}

/// AAP-20.4-03
#[test]
fn keys_are_p256_and_jwts_say_es256() {
    let operator = operator();
    let set: Value = serde_json::from_slice(&operator.documents(at(0))[1].body).unwrap();
    assert_eq!((&set["keys"][0]["kty"], &set["keys"][0]["crv"]), (&Value::from("EC"), &Value::from("P-256")));
    assert_eq!(set["keys"][0]["alg"], "ES256");
    let jwt = operator.operator_jwt(SERVICE, at(0)).unwrap();
    let head = header(&jwt);
    assert_eq!((&head["alg"], &head["typ"]), (&Value::from("ES256"), &Value::from("aap-operator+jwt")));
    assert_eq!(head["kid"], set["keys"][0]["kid"]);
}

#[test]
fn an_operator_jwt_is_for_one_service_and_five_minutes() {
    let claims = crate::consent::payload(&operator().operator_jwt(SERVICE, at(0)).unwrap());
    assert_eq!((&claims["iss"], &claims["aud"]), (&Value::from(OPERATOR), &Value::from(SERVICE)));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 300);
}

#[test]
fn nothing_private_is_ever_published() {
    let operator = operator();
    operator.rotate(at(0)).unwrap();
    for document in operator.documents(at(1)) {
        let text = String::from_utf8(document.body).unwrap();
        for private in ["\"d\"", "\"p\"", "\"q\"", "\"k\"", "pkcs8"] {
            assert!(!text.contains(private), "{text}");
        }
    }
    assert!(!format!("{operator:?}").contains("pkcs8"));
}

#[test]
fn a_sealed_ring_opens_with_its_own_key_only_and_goes_on_where_it_was() {
    let sealer = Sealer::new(&[7; 32]).unwrap();
    let operator = operator();
    operator.rotate(at(0)).unwrap();
    let sealed = operator.seal_keys(&sealer).unwrap();
    let other = Sealer::new(&[8; 32]).unwrap();
    assert!(matches!(KeyRing::open(&other, &sealed), Err(BadKeyRing::Unsealable(_))));
    let opened = KeyRing::open(&sealer, &sealed).unwrap();
    let again = OperatorKeys::new(&identity(), opened).unwrap();
    assert_eq!(published(&again, at(60)), published(&operator, at(60)));
    assert_eq!(published(&again, at(TWO_HOURS + 1)).len(), 1);
    let kid = |operator: &OperatorKeys| peek(&operator.operator_jwt(SERVICE, at(1)).unwrap()).unwrap().kid;
    assert_eq!(kid(&again), kid(&operator));
}

#[test]
fn a_key_that_exists_already_can_be_taken() {
    let key = SigningKey::generate(Some("2026-1")).unwrap();
    let taken = SigningKey::from_pkcs8(Some("2026-1"), &key.to_pkcs8()).unwrap();
    let operator = OperatorKeys::new(&identity(), KeyRing::of(taken)).unwrap();
    assert_eq!(published(&operator, at(0)), ["2026-1"]);
}

fn published(operator: &OperatorKeys, now: UnixMillis) -> Vec<String> {
    let set: Value = serde_json::from_slice(&operator.documents(now)[1].body).unwrap();
    set["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

fn sorted(mut kids: Vec<String>) -> Vec<String> {
    kids.sort();
    kids
}

fn header(jwt: &str) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(jwt.split('.').next().unwrap()).unwrap()).unwrap()
}
