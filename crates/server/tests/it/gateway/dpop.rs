//! Proofs of possession at every endpoint: missing, invalid, and members that the request cannot influence.

use super::proofs::*;
use crate::register::support::{SQLITE, tampered, with};
use countersign_jose::SigningKey;
use countersign_protocol::hash::Digest;
use countersign_testkit::{bank::GATEWAY, on_sqlite};
use serde_json::{Value, json};

on_sqlite! {
    /// AAP-13.1-04, AAP-16.2-13, AAP-18.2-03, AAP-18.4-01, AAP-G-01, C-29
    async fn a_bound_token_without_a_proof_or_as_a_mere_bearer_is_refused_on_every_kind_of_route(kit) {
        let stage = Stage::on(kit).await;
        let bound = stage.scene.agent.authorization();
        let bearer = format!("Bearer {}", stage.scene.agent.access_token);
        for door in WITH_A_TOKEN {
            let bare = stage.sends(door, &[("authorization", &bound)]).await;
            assert_refused(&bare, "dpop_missing", &format!("{door:?}, no proof"));
            for headers in [&[("authorization", &*bearer)][..], &[("authorization", &bearer), ("dpop", &stage.proof(door))]] {
                let downgraded = stage.sends(door, headers).await;
                assert_refused(&downgraded, "dpop_missing", &format!("{door:?}, as a bearer token"));
            }
        }
        stage.nothing_happened().await;
        for door in WITH_A_TOKEN.into_iter().filter(|door| !matches!(door, Door::Socket | Door::Cancel | Door::Revoke)) {
            assert_let_in(door, &stage.shows(door, &stage.proof(door)).await, "with a proof");
        }
    }

    /// AAP-13.1-05, AAP-18-01
    async fn a_stolen_token_is_worth_nothing_without_its_key(kit) {
        let stage = Stage::on(kit).await;
        let thief = SigningKey::generate(None).unwrap();
        for door in WITH_A_TOKEN {
            let own = thief.sign_with_header(&header_of(&thief), &stage.claims(door)).unwrap();
            assert_refused(&stage.shows(door, &own).await, "dpop_invalid", &format!("{door:?}, by another key"));
            let under_the_right_name = thief.sign_with_header(&stage.header(), &stage.claims(door)).unwrap();
            let refused = stage.shows(door, &under_the_right_name).await;
            assert_refused(&refused, "dpop_invalid", &format!("{door:?}, as if by the right key"));
        }
        stage.nothing_happened().await;
        assert_eq!(stage.scene.calls().await.len(), 1, "a stranger is no line in the audit; the held call is");
    }
}

/// AAP-16.2-14, AAP-18-01, AAP-18.1-03, AAP-18.3-01, AAP-18.3-03, AAP-18.3-04, AAP-18.3-05, AAP-18.3-06, AAP-18.3-07
#[tokio::test]
async fn a_proof_with_one_thing_wrong_proves_nothing_at_any_door() {
    let stage = Stage::on(SQLITE).await;
    for door in ONE_OF_EACH.into_iter().chain([Door::Redeem]) {
        for (what, proof) in spoiled(&stage, door) {
            assert_refused(&stage.shows(door, &proof).await, "dpop_invalid", &format!("{door:?}, {what}"));
        }
    }
    stage.nothing_happened().await;
    for door in ONE_OF_EACH.into_iter().chain([Door::Redeem]) {
        assert_let_in(door, &stage.shows(door, &stage.proof(door)).await, "with nothing wrong");
    }
}

/// Every proof that differs from a valid one in one respect.
fn spoiled(stage: &Stage, door: Door) -> Vec<(String, String)> {
    let mut all = vec![
        ("not a JWT".to_owned(), "proof".to_owned()),
        ("an empty header".into(), String::new()),
        ("the signature".into(), tampered(&stage.proof(door))),
        ("no signature".into(), format!("{}.", stage.proof(door).rsplit_once('.').unwrap().0)),
    ];
    all.extend(
        wrong_headers(stage)
            .into_iter()
            .map(|(member, value)| (format!("header {member} {value}"), stage.headed(door, member, value))),
    );
    let claims = wrong_claims(stage, door).into_iter();
    all.extend(claims.map(|(claim, value)| (format!("claim {claim} {value}"), stage.claiming(door, claim, value))));
    all
}

fn wrong_headers(stage: &Stage) -> Vec<(&'static str, Value)> {
    let jwk = &stage.header()["jwk"];
    let mut wrong = vec![("jwk", Value::Null), ("jwk", json!({ "kty": "oct", "k": "c2VjcmV0" }))];
    wrong.extend(["d", "p", "q"].map(|private| ("jwk", with(jwk.clone(), private, json!("AQAB")))));
    wrong.extend([json!("JWT"), json!("dpop"), Value::Null].map(|typ| ("typ", typ)));
    wrong.extend(["none", "HS256", "RS256", "ES384", "EdDSA"].map(|alg| ("alg", json!(alg))));
    wrong
}

fn wrong_claims(stage: &Stage, door: Door) -> Vec<(&'static str, Value)> {
    let (url, now) = (stage.url(door), stage.scene.plane.now().secs());
    let other = if door.method() == "GET" { "POST" } else { "GET" };
    let mut wrong = vec![
        ("htm", json!(other)),
        ("htm", json!(door.method().to_lowercase())),
        ("htm", Value::Null),
        ("htu", json!(format!("{url}/more"))),
        ("htu", json!(url.replace("https://", "http://"))),
        ("htu", json!(url.replace(".test", ".evil.test"))),
        ("htu", json!(url.replace(".test/", ".test:8443/"))),
        ("htu", Value::Null),
        ("iat", json!(now - 301)),
        ("iat", json!(now + 301)),
        ("iat", Value::Null),
        ("jti", json!("")),
        ("jti", Value::Null),
        ("nonce", json!(7)),
    ];
    if door != Door::Register {
        let of_another = Digest::of(b"aat_of_another").base64url();
        wrong.extend([json!(of_another), json!(stage.scene.agent.access_token), Value::Null].map(|ath| ("ath", ath)));
    }
    wrong
}

/// AAP-18.3-06, R-22
#[tokio::test]
async fn the_proof_is_for_the_configured_origin_with_any_host_header() {
    let stage = Stage::on(SQLITE).await;
    let bound = stage.scene.agent.authorization();
    let said =
        [("x-forwarded-host", "evil.test"), ("x-forwarded-proto", "http"), ("forwarded", "host=evil.test;proto=http")];
    for door in ONE_OF_EACH {
        let host: &[(&str, &str)] = if stage.url(door).starts_with(GATEWAY) { &[] } else { &[("host", "evil.test")] };
        let forged = |proof: &str| {
            let credentials = [("authorization".to_owned(), bound.clone()), ("dpop".to_owned(), proof.to_owned())];
            let said = said.iter().chain(host).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            credentials.into_iter().chain(said).collect::<Vec<_>>()
        };
        let there = stage.claiming(door, "htu", json!(format!("http://evil.test{}", path_of(&stage.url(door)))));
        let refused = stage.sends(door, &lent(&forged(&there))).await;
        assert_refused(&refused, "dpop_invalid", &format!("{door:?}, for where the headers point"));
        let answer = stage.sends(door, &lent(&forged(&stage.proof(door)))).await;
        assert_let_in(door, &answer, "for where it is");
    }
}

fn path_of(url: &str) -> &str {
    url.splitn(4, '/').nth(3).map_or("/", |rest| &url[url.len() - rest.len() - 1..])
}

fn lent(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
