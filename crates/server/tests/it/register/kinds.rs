//! One kind of JWT is never taken for another (C-66).

use super::support::{Ready, SQLITE, claims_of, header_of, told, with};
use serde_json::{Value, json};

const TYPS: [&str; 3] = ["aap-operator+jwt", "aap-consent+jwt", "aap-delegation+jwt"];

/// Claims signed by acme under any `typ`; none for the empty one.
fn as_kind(ready: &Ready, typ: &str, claims: &Value) -> Value {
    let header = json!({ "alg": "ES256", "kid": "key-1", "typ": typ });
    let header = if typ.is_empty() { with(header, "typ", Value::Null) } else { header };
    json!(ready.plane.acme().key.sign_with_header(&header, claims).unwrap())
}

/// AAP-19-03
#[tokio::test]
async fn nothing_that_an_operator_signs_is_a_delegation_token() {
    let ready = Ready::on(SQLITE).await;
    let delegation = claims_of(&ready.connected.delegation_token);
    for typ in ["", "JWT", "aap-operator+jwt", "aap-consent+jwt", "aap-delegation+jwt"] {
        for claims in [ready.operator_claims(), ready.receipt(), delegation.clone()] {
            let body = with(ready.body(), "delegation_token", as_kind(&ready, typ, &claims));
            assert_eq!(ready.refusal(&body).await, told(401, "delegation_invalid"), "{typ:?} {claims}");
        }
    }
}

/// AAP-19-03
#[tokio::test]
async fn the_right_claims_under_a_wrong_typ_are_refused_and_under_none_accepted() {
    let ready = Ready::on(SQLITE).await;
    let key = ready.plane.service_key().await;
    let delegation = claims_of(&ready.connected.delegation_token);
    let kinds = [
        ("operator_jwt", TYPS[0], "operator_jwt_invalid"),
        ("consent_receipt", TYPS[1], "consent_invalid"),
        ("delegation_token", TYPS[2], "delegation_invalid"),
    ];
    let sign = |member: &str, typ: &str| match member {
        "operator_jwt" => as_kind(&ready, typ, &ready.operator_claims()),
        "consent_receipt" => as_kind(&ready, typ, &ready.receipt()),
        _ => {
            let header = json!({ "alg": "ES256", "kid": key.kid(), "typ": typ });
            let header = if typ.is_empty() { with(header, "typ", Value::Null) } else { header };
            json!(key.sign_with_header(&header, &delegation).unwrap())
        }
    };
    for (member, own, code) in kinds {
        let others = TYPS.into_iter().filter(|typ| *typ != own).chain(["at+jwt", "dpop+jwt", "JWT2"]);
        for typ in others {
            let body = with(ready.body(), member, sign(member, typ));
            assert_eq!(ready.refusal(&body).await, told(401, code), "{member} {typ}");
        }
        for typ in ["", "JWT", "jwt", own, &own.to_uppercase(), &format!("application/{own}")] {
            ready.register(&with(ready.body(), member, sign(member, typ))).await.expect(200);
        }
    }
}

/// AAP-19-03
#[tokio::test]
async fn our_tokens_name_their_type() {
    let ready = Ready::on(SQLITE).await;
    assert_eq!(header_of(&ready.connected.delegation_token)["typ"], "aap-delegation+jwt");
    assert_eq!(header_of(ready.body()["operator_jwt"].as_str().unwrap())["typ"], "aap-operator+jwt");
    let receipt = ready.plane.acme().sign_receipt(&ready.receipt());
    assert_eq!(header_of(&receipt)["typ"], "aap-consent+jwt");
}
