//! An AAP access token that is bound to a key: each request needs a proof for exactly this address.

use super::calling::{PATH, posted, request, send_request};
use axum::body::Body;
use countersign_testkit::{Answer, Backend, Kit, bank::BankFixture};
use serde_json::json;

/// After this time the proofs of calls need no nonce.
const NEW_EPOCH_S: i64 = 601;

async fn send(scene: &BankFixture, proof: Option<&str>) -> Answer {
    let mut built = posted(PATH).header("authorization", scene.agent.authorization());
    if let Some(proof) = proof {
        built = built.header("dpop", proof);
    }
    send_request(&scene.plane.public, built.body(Body::from(request("ping", json!({})).to_string())).unwrap()).await
}

///
#[tokio::test]
async fn a_bound_token_is_worth_nothing_without_a_fresh_proof_for_each_request() {
    let scene = Kit(Backend::Sqlite).bank().await;
    scene.plane.advance_secs(NEW_EPOCH_S).await;
    let proof = |method: &str, path: &str| {
        let url = format!("{}{path}", scene.plane.service());
        scene.agent.proof(method, &url, scene.plane.now()).unwrap()
    };
    assert_eq!(send(&scene, None).await.refusal(), (401, "dpop_missing".into()));
    for wrong in [proof("GET", PATH), proof("POST", "/v1/confirmations"), proof("POST", "/projects/bank/mcp")] {
        assert_eq!(send(&scene, Some(&wrong)).await.refusal(), (401, "dpop_invalid".into()));
    }
    let once = proof("POST", PATH);
    assert_eq!(send(&scene, Some(&once)).await.status, 200);
    assert_eq!(send(&scene, Some(&once)).await.refusal(), (401, "dpop_replayed".into()));
    assert_eq!(send(&scene, Some(&proof("POST", PATH))).await.status, 200);
}
