//! API keys that are bound to a key of their holder.

use super::proofs::*;
use crate::register::support::told;
use axum::body::Body;
use countersign_engine::{ApiKeyKind, NewKey};
use countersign_jose::ProofKey;
use countersign_testkit::{
    Answer, Plane, Setup, TestPerson, agent_request,
    decisions::{ALL, confirmation},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

const CONFIRMATIONS: &str = "/v1/confirmations";

/// A program that holds an API key, and the key that it is bound to.
struct Program {
    secret: String,
    key: ProofKey,
}

impl Program {
    async fn of(plane: &Plane, kind: ApiKeyKind) -> Self {
        let key = ProofKey::generate().unwrap();
        let new = NewKey {
            kind,
            principal: "the nightly job".into(),
            responsible: "alice".into(),
            actions: ALL.iter().map(|action| (*action).to_owned()).collect(),
            asks: Vec::new(),
            jkt: Some(key.jkt().base64url()),
        };
        let added = plane.engine.people().add_key(&plane.at().await.project, &new).await.unwrap();
        Self { secret: added.secret, key }
    }

    fn proof(&self, plane: &Plane, key: &ProofKey, path: &str) -> String {
        let url = format!("{}{path}", plane.service());
        key.proof("POST", &url, Some(&self.secret), None, &fresh(), plane.now()).unwrap()
    }

    async fn posts(&self, plane: &Plane, scheme: &str, path: &str, body: &Value, proof: Option<&str>) -> Answer {
        let request = agent_request(Method::POST, path).header("authorization", format!("{scheme} {}", self.secret));
        let request = proof.into_iter().fold(request, |request, proof| request.header("dpop", proof));
        plane.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

async fn plane(kit: countersign_testkit::Kit) -> (Plane, TestPerson) {
    let plane = kit.plane_with(Setup::payments()).await;
    plane.advance_secs(EPOCH_OVER_S).await;
    let alice = plane.person("alice").await;
    (plane, alice)
}

on_sqlite! {
    ///
    async fn a_bound_key_asks_with_a_proof_and_not_without_one(kit) {
        let (plane, alice) = plane(kit).await;
        let program = Program::of(&plane, ApiKeyKind::Agent).await;
        let question = confirmation("payments.send", json!({ "amount": 82 }));
        let proof = || program.proof(&plane, &program.key, CONFIRMATIONS);
        let strangers = program.proof(&plane, &ProofKey::generate().unwrap(), CONFIRMATIONS);
        let elsewhere = program.proof(&plane, &program.key, "/v1/clarifications");
        for (scheme, shown, code) in [
            ("Bearer", None, "dpop_missing"),
            ("Bearer", Some(proof()), "dpop_missing"),
            ("DPoP", None, "dpop_missing"),
            ("DPoP", Some(strangers), "dpop_invalid"),
            ("DPoP", Some(elsewhere), "dpop_invalid"),
        ] {
            let answer = program.posts(&plane, scheme, CONFIRMATIONS, &question, shown.as_deref()).await;
            assert_refused(&answer, code, scheme);
        }
        assert_eq!(alice.pending_questions(&plane).await, 0);
        let once = proof();
        program.posts(&plane, "DPoP", CONFIRMATIONS, &question, Some(&once)).await.expect(201);
        let again = program.posts(&plane, "DPoP", CONFIRMATIONS, &question, Some(&once)).await;
        assert_refused(&again, "dpop_replayed", "again");
        assert_eq!(alice.pending_questions(&plane).await, 1);
    }

    ///
    async fn a_bound_admin_key_revokes_with_a_proof_and_not_without_one(kit) {
        let (plane, alice) = plane(kit).await;
        let program = Program::of(&plane, ApiKeyKind::Admin).await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let body = json!({ "delegation_id": connected.delegation_id, "reason": "user_requested" });
        for scheme in ["Bearer", "DPoP"] {
            let bare = program.posts(&plane, scheme, "/agent/revoke", &body, None).await;
            assert_eq!(bare.refusal(), told(401, "dpop_missing"), "{scheme}");
        }
        plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await.expect(200);
        let proof = program.proof(&plane, &program.key, "/agent/revoke");
        program.posts(&plane, "DPoP", "/agent/revoke", &body, Some(&proof)).await.expect(200);
        let after = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(after.refusal(), told(401, "delegation_revoked"));
    }
}
