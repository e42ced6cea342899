//! Operators that sign with another library register here.

use super::judge::Judge;
use crate::register::support::{Ready, SQLITE, told, with};
use countersign_testkit::{Setup, operator_host::JWKS};
use serde_json::json;

const PERMITTED: [&str; 6] = ["RS256", "RS384", "RS512", "ES256", "ES384", "PS256"];

/// AAP-20.4-01
#[tokio::test]
async fn each_permitted_algorithm_registers_from_either_library() {
    let ready = Ready::with(SQLITE, Setup::default()).await;
    for mut judge in Judge::all() {
        let pairs = PERMITTED.map(|alg| (alg, judge.keys(alg, alg)));
        let public: Vec<_> = pairs.iter().map(|(_, (public, _))| public).collect();
        ready.plane.acme().host.set_document(JWKS, json!({ "keys": public }).to_string());
        ready.plane.advance_secs(3601).await;
        for (alg, (_, private)) in &pairs {
            let header = |typ: &str| json!({ "alg": alg, "kid": alg, "typ": typ });
            let operator_jwt = judge.sign(private, &header("aap-operator+jwt"), &ready.operator_claims());
            let receipt = judge.sign(private, &header("aap-consent+jwt"), &ready.receipt());
            let body = with(ready.body(), "operator_jwt", json!(operator_jwt));
            let body = with(body, "consent_receipt", json!(receipt));
            let answer = ready.register(&body).await;
            assert_eq!(answer.status, 200, "{} {alg}: {}", judge.name, answer.text());
            // The output of a library that writes only the mandatory members is accepted as well.
            let plain = judge.sign(private, &json!({ "alg": alg, "kid": alg }), &ready.operator_claims());
            ready.register(&with(ready.body(), "operator_jwt", json!(plain))).await.expect(200);
        }
        // One key's signature under another key's id.
        let (_, (_, rs256)) = &pairs[0];
        let header = json!({ "alg": "RS256", "kid": "RS512" });
        let mislabelled = judge.sign(rs256, &header, &ready.operator_claims());
        let body = with(ready.body(), "operator_jwt", json!(mislabelled));
        assert_eq!(ready.refusal(&body).await, told(401, "operator_jwt_invalid"), "{}", judge.name);
    }
}
