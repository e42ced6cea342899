//! Only a person grants access: nothing that was granted can grant more (AAP 12.1).

use countersign_testkit::{AgentFixture, Answer, agent_request, on_sqlite, send_to};
use http::{Method, header};
use serde_json::{Value, json};

/// How the secrets and codes that the service issues begin, and the members that they stand in.
const ISSUED: [&str; 6] = ["aat_", "csk_", "\"access_token\":", "\"delegation_token\":", "\"code\":", "\"token\":"];

/// The members of every document that could have something issued.
fn body(scene: &AgentFixture, token: &str, request_id: &str, disclosure_id: &Value) -> Value {
    let mut body = scene.plane.connect_body(scene.plane.acme(), &["calendar.read"]);
    let more = json!({
        "operator_jwt": token, "delegation_token": token, "svc_delegation": token, "consent_receipt": token,
        "request_id": request_id, "disclosure_id": disclosure_id, "acknowledged_disclosure": true,
        "code": token, "code_verifier": countersign_testkit::VERIFIER, "name": "speaker",
        "account_id": "svc_acme_prod", "org_id": "org_acme",
        "granted_scope": { "description": "all", "scopes": ["calendar.read"], "crosses_users": false },
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

async fn sends(scene: &AgentFixture, path: &str, method: &Method, bearer: &str, body: &Value) -> Answer {
    let request = agent_request(method.clone(), path).header(header::AUTHORIZATION, format!("Bearer {bearer}"));
    send_to(&scene.plane.public, request.body(body.to_string().into()).unwrap()).await
}

/// Every described operation that is not a read, at an address without placeholders.
async fn writes(scene: &AgentFixture, request_id: &str) -> Vec<(Method, String)> {
    let description = scene.plane.get("/openapi.json").await.expect(200).json();
    let mut all = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in
            item.as_object().unwrap().keys().filter(|method| ["post", "put", "patch"].contains(&method.as_str()))
        {
            let filled: Vec<&str> =
                path.split('/').map(|part| if part.starts_with('{') { request_id } else { part }).collect();
            all.push((method.to_uppercase().parse().unwrap(), filled.join("/")));
        }
    }
    all
}

on_sqlite! {
    /// AAP-12.1-02
    async fn neither_an_access_token_nor_a_delegation_has_anything_issued_anywhere(kit) {
        let scene = kit.fixture().await;
        let request_id = scene.plane.connect_request("", scene.plane.acme(), &["calendar.read"]).await;
        let shown = scene.alice.post(&scene.plane, "/agent/delegate", &json!({ "request_id": request_id })).await;
        let disclosure_id = shown.expect(200).json()["disclosure_id"].clone();
        let agents = async || scene.alice.get(&scene.plane, "/v1/agents").await.expect(200).json();
        let before = agents().await;
        let writes = writes(&scene, &request_id).await;
        assert!(["/agent/delegate", "/agent/delegate/requests", "/agent/delegate/token", "/agent/register"]
            .iter().all(|path| writes.iter().any(|(_, described)| described == path)));
        for token in [&scene.agent.access_token, &scene.connected.delegation_token] {
            let body = body(&scene, token, &request_id, &disclosure_id);
            for (method, path) in &writes {
                let text = sends(&scene, path, method, token, &body).await.text();
                let issued: Vec<&&str> = ISSUED.iter().filter(|start| text.contains(**start)).collect();
                assert!(issued.is_empty(), "{method} {path}: {text}");
            }
            let approval = json!({
                "request_id": request_id, "disclosure_id": disclosure_id, "acknowledged_disclosure": true,
            });
            let delegate = sends(&scene, "/agent/delegate", &Method::POST, token, &approval).await;
            assert!([401, 403].contains(&delegate.status), "{}", delegate.text());
        }
        assert_eq!(agents().await, before);
        // The request was open all the time, for its person.
        scene.plane.approve_at("", &scene.alice, &request_id).await;
        assert_ne!(agents().await, before);
    }
}
