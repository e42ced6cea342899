//! Bound tokens at the plane's own endpoints, and decisions of the gateway as the agent sees them there.

use axum::body::Body;
use countersign_testkit::{
    Answer, Backend, Kit, agent_request,
    bank::{BankFixture, Holder},
};
use http::{Method, request::Builder};
use serde_json::json;

const PATH: &str = "/v1/decisions/dec_none";
/// After this time the proofs of calls need no nonce.
const NEW_EPOCH_S: i64 = 601;

async fn scene() -> BankFixture {
    let scene = Kit(Backend::Sqlite).bank().await;
    scene.plane.advance_secs(NEW_EPOCH_S).await;
    scene
}

fn request(agent: &Holder, method: Method, path: &str) -> Builder {
    agent_request(method, path).header("authorization", agent.authorization())
}

async fn send(scene: &BankFixture, request: Builder, body: &str) -> Answer {
    scene.plane.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

///
#[tokio::test]
async fn a_proof_is_for_the_path_as_it_was_sent_also_under_a_project() {
    let scene = scene().await;
    let scoped = format!("/projects/bank{PATH}");
    for (path, told) in [(PATH, (401, "dpop_invalid".to_owned())), (&scoped, (404, "not_found".to_owned()))] {
        let url = format!("{}{path}", scene.plane.service());
        let proof = scene.agent.proof("GET", &url, scene.plane.now()).unwrap();
        let answer = send(&scene, request(&scene.agent, Method::GET, &scoped).header("dpop", proof), "").await;
        assert_eq!(answer.refusal(), told, "{path}");
    }
}

/// C-28
#[tokio::test]
async fn ending_a_session_needs_a_proof_and_looking_at_the_record_does_not() {
    let scene = scene().await;
    let (agent, now) = (&scene.agent, scene.plane.now());
    let path = format!("/agent/audit?session_id={}", agent.session_id);
    for authorization in [agent.authorization(), format!("Bearer {}", agent.access_token)] {
        let look = agent_request(Method::GET, &path).header("authorization", authorization);
        send(&scene, look, "").await.expect(200);
    }
    let body = json!({ "session_id": agent.session_id }).to_string();
    let bare = send(&scene, request(agent, Method::POST, "/agent/cancel"), &body).await;
    assert_eq!(bare.refusal(), (401, "dpop_missing".into()));
    let proof = agent.proof("POST", &format!("{}/agent/cancel", scene.plane.service()), now).unwrap();
    send(&scene, request(agent, Method::POST, "/agent/cancel").header("dpop", proof), &body).await.expect(200);
}

/// C-27, R-22
#[tokio::test]
async fn nonces_ride_on_every_answer_where_they_are_on_and_on_no_other() {
    let scene = Kit(Backend::Sqlite).bank().await;
    let url = format!("{}{PATH}", scene.plane.service());
    let other = scene.another(|_| {}).await;
    let proof = other.proof("GET", &url, scene.plane.now()).unwrap();
    let answer = send(&scene, request(&other, Method::GET, PATH).header("dpop", proof), "").await;
    assert_eq!(answer.status, 404);
    assert!(answer.header("dpop-nonce").is_some(), "also on answers that refuse nothing about the proof");
    scene.plane.advance_secs(NEW_EPOCH_S).await;
    let proof = other.proof("GET", &url, scene.plane.now()).unwrap();
    let answer = send(&scene, request(&other, Method::GET, PATH).header("dpop", proof), "").await;
    assert_eq!((answer.status, answer.header("dpop-nonce")), (404, None));
    let registered = scene.plane.post("/agent/register", &json!({ "mode": "user_delegated" })).await;
    assert_eq!(registered.status, 400);
    assert!(registered.header("dpop-nonce").is_some(), "registering hands them out, whatever it answers");
}

/// C-02, R-2, R-6
#[tokio::test]
async fn a_decision_of_the_gateway_names_the_next_request_and_is_not_the_agents_to_claim_or_report() {
    let scene = scene().await;
    let held = scene.sends(BankFixture::transfer()).await;
    let decision = BankFixture::decision(&held);
    let id = decision["decision_id"].as_str().unwrap();
    let open = scene.reads_decision(&scene.agent, &decision).await;
    assert_eq!((&open["redeem"], open.get("confirm_token")), (&decision["redeem"], None));
    scene.alice.accepts(&scene.plane, &decision).await;
    let accepted = scene.reads_decision(&scene.agent, &decision).await;
    assert!(accepted["confirm_token"].as_str().unwrap().starts_with(id));
    for (end, body) in [("claim", json!({ "digest": decision["digest"] })), ("outcome", json!({ "status": "failed" }))]
    {
        let path = format!("/v1/decisions/{id}/{end}");
        let url = format!("{}{path}", scene.plane.service());
        let proof = scene.agent.proof("POST", &url, scene.plane.now()).unwrap();
        let answer =
            send(&scene, request(&scene.agent, Method::POST, &path).header("dpop", proof), &body.to_string()).await;
        assert_eq!(answer.refusal(), (403, "confirmation_invalid".into()), "{end}");
    }
    let token = accepted["confirm_token"].as_str().unwrap();
    scene.sends(BankFixture::transfer().confirmed(token)).await.expect(201);
    let ran = scene.reads_decision(&scene.agent, &decision).await;
    assert_eq!((ran.get("confirm_token"), ran.get("redeem")), (None, None), "there is nothing left to spend");
}
