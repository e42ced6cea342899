//! Access to `/mcp`: agents with a credential of their own, under a host name of ours, and nobody else (R-10).

use super::calling::{HOST, PATH, call_tool, error, posted, request, result, send, send_at, send_request};
use axum::{body::Body, extract::ConnectInfo};
use countersign_engine::ApiKeyKind;
use countersign_protocol::origin::Origin;
use countersign_server::{config::node::Mcp, router};
use countersign_testkit::{
    Answer, Plane, Setup, TestAgent,
    decisions::{ALL, DecisionFixture},
    on_sqlite,
};
use http::{Method, Request, header};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Every message that a client could start with.
fn messages() -> [Value; 7] {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let client = json!({ "name": "stranger", "version": "1" });
    [
        request("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client })),
        request("server/discover", json!({ "_meta": meta })),
        request("ping", json!({})),
        request("tools/list", json!({})),
        request("tools/call", json!({ "name": "await_decision", "arguments": { "decision_id": "dec_0" } })),
        request("no/such/method", json!({})),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

async fn without_credential(plane: &Plane, message: &Value) -> Answer {
    let request = posted(PATH).header("mcp-session-id", "5f0c1a52-1d0e-4b57-8a1e-0f7a2f6d1c33");
    send_request(&plane.public, request.body(Body::from(message.to_string())).unwrap()).await
}

fn refusal(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.header("x-request-id"), answer.json()["request_id"].as_str());
    assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    answer.refusal()
}

on_sqlite! {
    /// R-10
    async fn without_a_credential_no_method_is_reached_and_a_session_id_is_none(kit) {
        let plane = kit.plane().await;
        for message in messages() {
            let answer = without_credential(&plane, &message).await;
            assert_eq!(refusal(&answer), (401, "agent_auth_required".into()), "{message}");
            assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer agent_auth_required="/.well-known/agent-auth.json""#));
        }
        let garbage = posted(PATH).body(Body::from("{")).unwrap();
        assert_eq!(send_request(&plane.public, garbage).await.status, 401, "nothing is read of a stranger's");
    }

    /// R-10
    async fn only_an_agents_credential_is_accepted(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let made = json!({ "name": "a phone" });
        let subscriber = alice.post(&plane, "/aaep/v1/subscriber-tokens", &made).await.expect(201).json();
        let nobody = |token: &str| TestAgent { token: token.to_owned(), principal: String::new() };
        let wrong = [
            (plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await, 403),
            (plane.key_of(ApiKeyKind::EnforcementPoint, "alice", &[], &[]).await, 403),
            (nobody(subscriber["token"].as_str().unwrap()), 401),
            (nobody("csk_0000"), 403),
            (nobody("x"), 401),
        ];
        for message in messages() {
            for (who, status) in &wrong {
                assert_eq!(send(&plane, who, &message).await.status, *status, "{message} {}", who.token);
            }
        }
        let cookie = posted(PATH).header(header::COOKIE, &alice.cookie).header("x-csrf-token", "x");
        let answer = send_request(&plane.public, cookie.body(Body::from(messages()[3].to_string())).unwrap()).await;
        assert_eq!(refusal(&answer), (401, "agent_auth_required".into()), "a person is no agent");

        assert_eq!(send(&plane, &agent, &messages()[3]).await.status, 200);
        plane.revoke_key(&agent).await;
        assert_eq!(send(&plane, &agent, &messages()[3]).await.status, 403, "the very next request");
    }

    /// R-10
    async fn another_principals_questions_and_plans_do_not_exist(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "amount": 82 })).await;
        alice.accepts(&plane, &asked).await;
        let other = plane.agent_key("alice", ALL).await;
        let id = &asked["decision_id"];
        let plan_id = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
        for (tool, arguments) in [
            ("await_decision", json!({ "decision_id": id, "wait_seconds": 0 })),
            ("await_decision", json!({ "decision_id": id, "wait_seconds": 55 })),
            ("begin_action", json!({ "decision_id": id, "digest": asked["digest"] })),
            ("report_outcome", json!({ "decision_id": id, "status": "committed" })),
            ("plan_status", json!({ "plan_id": plan_id })),
        ] {
            assert_eq!(call_tool(&plane, &other, tool, arguments).await.refusal(), "not_found", "{tool}");
        }
        let still = agent.reads_decision(&plane, &asked).await.expect(200).json();
        assert_eq!((&still["state"], &still["allowance"]["state"]), (&json!("accepted"), &json!("open")));
    }
}

async fn with(plane: &Plane, headers: &[(&str, &str)], from: [u8; 4]) -> Answer {
    let agent = plane.agent_key("alice", ALL).await;
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(PATH)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::from(messages()[3].to_string())).unwrap();
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from((from, 40000))));
    let mcp = Mcp {
        origins: vec![Origin::parse("https://pages.example.test").unwrap()],
        hosts: vec!["Inside.example:8420".into()],
    };
    Answer::to(&router(plane.app.clone().with_mcp(mcp)), request).await
}

const HERE: [u8; 4] = [127, 0, 0, 1];
const ELSEWHERE: [u8; 4] = [192, 0, 2, 7];

on_sqlite! {
    async fn a_name_that_was_made_to_lead_here_leads_nowhere(kit) {
        let plane = kit.decision_fixture().await.plane;
        for (hosts, from) in [
            (vec![("host", "evil.test")], HERE),
            (vec![("host", "evil.test:8420")], ELSEWHERE),
            (vec![("host", "api.example.test.evil.test")], ELSEWHERE),
            (vec![("host", "evil.api.example.test")], ELSEWHERE),
            (vec![("host", "api.example.test:9")], ELSEWHERE),
            (vec![("host", "localhost.evil.test")], HERE),
            (vec![("host", "localhost:8420")], ELSEWHERE),
            (vec![("host", "127.0.0.1:8420")], ELSEWHERE),
            (vec![("host", HOST), ("host", "evil.test")], ELSEWHERE),
            (vec![("host", "inside.example")], ELSEWHERE),
            (vec![], HERE),
        ] {
            let answer = with(&plane, &hosts, from).await;
            assert_eq!(refusal(&answer), (403, "not_authorized".into()), "{hosts:?}");
            assert!(answer.json()["hint"].as_str().unwrap().contains("https://api.example.test"));
        }
        for (host, from) in [
            (HOST, ELSEWHERE),
            ("API.example.test", ELSEWHERE),
            ("inside.EXAMPLE:8420", ELSEWHERE),
            ("localhost:8420", HERE),
            ("127.0.0.1:8420", HERE),
            ("[::1]:8420", HERE),
        ] {
            assert_eq!(with(&plane, &[("host", host)], from).await.status, 200, "{host}");
        }
    }

    async fn a_page_elsewhere_is_refused_with_a_good_credential_too(kit) {
        let plane = kit.decision_fixture().await.plane;
        for origin in
            ["https://evil.test", "null", "", "http://api.example.test", "http://localhost:6274", "https://pages.example.test:1"]
        {
            let answer = with(&plane, &[("host", HOST), ("origin", origin)], ELSEWHERE).await;
            assert_eq!(refusal(&answer), (403, "not_authorized".into()), "{origin}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
        let ours = with(&plane, &[("host", HOST), ("origin", "https://api.example.test")], ELSEWHERE).await;
        assert_eq!((ours.status, ours.header("access-control-allow-origin")), (200, None));
        let listed = with(&plane, &[("host", HOST), ("origin", "https://pages.example.test")], ELSEWHERE).await;
        assert_eq!((listed.status, listed.header("access-control-allow-origin")), (200, Some("https://pages.example.test")));
    }

    async fn a_preflight_answer_names_the_allowed_pages(kit) {
        let plane = kit.decision_fixture().await.plane;
        let origins = vec![Origin::parse("https://pages.example.test").unwrap()];
        let node = router(plane.app.clone().with_mcp(Mcp { origins, hosts: Vec::new() }));
        let ask = |origin: &str| {
            let ask = Request::builder().method(Method::OPTIONS).uri(PATH).header(header::HOST, HOST);
            ask.header(header::ORIGIN, origin).body(Body::empty()).unwrap()
        };
        assert_eq!(send_request(&node, ask("https://evil.test")).await.status, 403);
        let told = send_request(&node, ask("https://pages.example.test")).await;
        assert_eq!((told.status, told.header("access-control-allow-methods")), (204, Some("POST")));
        assert_eq!(told.header("access-control-allow-origin"), Some("https://pages.example.test"));
        assert!(told.header("access-control-allow-headers").unwrap().contains("authorization"));
        assert_eq!(told.header("access-control-allow-credentials"), None, "no cookie counts here");
    }

    async fn more_than_a_plan_is_too_much(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let padded = |bytes: usize| request("ping", json!({ "pad": "x".repeat(bytes) }));
        let answer = send(&plane, &agent, &padded(128 * 1024)).await;
        assert_eq!(refusal(&answer), (413, "payload_too_large".into()));
        assert_eq!(send(&plane, &agent, &padded(100 * 1024)).await.status, 200);
    }

    async fn a_project_has_its_own_path_and_a_key_of_another_is_no_key_there(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        plane.person_in("north", "alice", &[countersign_engine::Role::User]).await;
        plane.give_roles("south", "alice", &[countersign_engine::Role::User]).await;
        let at = plane.engine.project(&countersign_engine::Address::Scoped("north".into())).await.unwrap();
        let new = countersign_engine::NewKey {
            kind: ApiKeyKind::Agent,
            principal: "a job".into(),
            responsible: "alice".into(),
            actions: Vec::new(),
            asks: Vec::new(),
            jkt: None,
        };
        let added = plane.engine.people().add_key(&at.project, &new).await.unwrap();
        let agent = TestAgent { token: added.secret, principal: added.key.id };
        let list = request("tools/list", json!({}));
        assert_eq!(send_at(&plane.public, "/projects/south/mcp", &agent, &list).await.status, 403);
        assert_eq!(send_at(&plane.public, "/projects/nowhere/mcp", &agent, &list).await.status, 404);
        let answer = send_at(&plane.public, "/projects/north/mcp", &agent, &list).await;
        assert!(!result(&answer)["tools"].as_array().unwrap().is_empty());
    }

    async fn no_answer_stays_in_a_cache(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let answer = send(&plane, &agent, &request("tools/list", json!({}))).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("mcp-session-id"), None, "there are no sessions");
        let wrong = send(&plane, &agent, &json!([])).await;
        assert_eq!((wrong.status, error(&wrong)), (400, -32600));
        assert_eq!(wrong.header("cache-control"), Some("no-store"));
    }
}
