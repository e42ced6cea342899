//! Before anything else: no credentials, no version, the wrong kind of credential, another project's.

use axum::body::Body;
use countersign_engine::Address;
use countersign_testkit::{Altered as _, Backend, Kit, Registered, Setup, on_sqlite, send_to};
use http::{Method, Request};
use serde_json::{Value, json};

const CHALLENGE: &str = "Bearer agent_auth_required=\"/.well-known/agent-auth.json\"";

on_sqlite! {
    /// AAP-2-01, AAP-3-08
    async fn a_call_without_credentials_is_challenged_before_any_other_refusal(kit) {
        let scene = kit.scene().await;
        let call = |path: &str| Request::builder().method(Method::GET).uri(path);
        let calls = [
            call("/calendar/events"),
            call("/calendar/events").header("aap-version", "2.0"),
            call("/calendar/events").header("aap-version", "9.9"),
            call("/calendar/events").header("aap-version", "2.0").header("aap-version", "2.0"),
            call("/calendar/events").header("x-agent-mode", "nobody").header("x-agent-mode", "anybody"),
            call("/nowhere"),
            call("/calendar/events").method(Method::POST).header("x-agent-session", &scene.agent.session_id),
            call("/calendar/events").header("x-agent-delegation", &scene.connected.delegation_id),
        ];
        for call in calls {
            let answer = scene.plane.try_call(call).await;
            assert_eq!(answer.refusal(), (401, "agent_auth_required".into()));
            assert_eq!(answer.header("www-authenticate"), Some(CHALLENGE));
        }
        assert_eq!(scene.reached(), 0);
        assert_eq!(scene.calls().await, Vec::<Value>::new(), "a call of nobody's is in nobody's record");
    }

    /// AAP-22.1-01, AAP-22.2-02
    async fn a_call_in_no_version_or_an_unserved_one_does_nothing_at_all(kit) {
        let scene = kit.scene().await;
        let before = scene.audit("").await["total_count"].clone();
        for version in [None, Some("3.0"), Some("2.1"), Some("2"), Some("aap/2.0"), Some("")] {
            let speaking = |request: http::request::Builder| match version {
                Some(version) => request.instead("aap-version", version),
                None => request.without("aap-version"),
            };
            for method in [Method::GET, Method::POST] {
                let call = scene.agent.request(method, "/calendar/events", "SCHEDULE_EVENT");
                let answer = scene.plane.try_call(speaking(call)).await;
                assert_eq!(answer.refusal(), (400, "spec_version_unsupported".into()), "{version:?}");
                assert_eq!(answer.header("aap-version-accepted"), Some("2.0"));
                assert_eq!(answer.header("x-aap-version-required"), Some("2.0"));
            }
            for (path, body) in [
                ("/agent/register", scene.plane.register_body(scene.plane.acme(), &scene.connected)),
                ("/agent/revoke", revoke_by_operator(&scene)),
            ] {
                let request = speaking(countersign_testkit::agent_request(Method::POST, path));
                let answer = scene.plane.send(request.body(Body::from(body.to_string())).unwrap()).await;
                assert_eq!(answer.refusal(), (400, "spec_version_unsupported".into()), "{path} {version:?}");
            }
        }
        assert_eq!(scene.reached(), 0, "nothing was forwarded");
        assert_eq!(scene.audit("").await["total_count"], before, "nothing was recorded, opened or revoked");
        scene.write().await.expect(201);
    }

    /// AAP-22.1-01
    async fn requests_that_are_no_agents_need_no_version(kit) {
        let scene = kit.scene().await;
        for path in ["/.well-known/agent-auth.json", "/.well-known/agent-jwks.json", "/.well-known/agent-identity.json"] {
            scene.plane.get(path).await.expect(200);
        }
        scene.alice.get(&scene.plane, "/v1/agents").await.expect(200);
        scene.revoke().await.expect(200);
    }

    /// AAP-5.2-05
    async fn a_delegation_token_alone_opens_nothing(kit) {
        let scene = kit.scene().await;
        let bearer = format!("Bearer {}", scene.connected.delegation_token);
        for method in [Method::GET, Method::POST] {
            let call = scene.agent.request(method, "/calendar/events", "SCHEDULE_EVENT");
            let answer = scene.plane.try_call(call.instead("authorization", &bearer)).await;
            assert_eq!(answer.refusal(), (401, "access_token_invalid".into()));
        }
        let body = json!({ "mode": "user_delegated", "delegation_token": scene.connected.delegation_token });
        let answer = scene.plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        let audit = format!("/agent/audit?delegation_id={}", scene.connected.delegation_id);
        let request = countersign_testkit::agent_request(Method::GET, &audit).header("authorization", &bearer);
        assert_eq!(scene.plane.send(request.body(Body::empty()).unwrap()).await.status, 401);
        assert_eq!(scene.reached(), 0);
    }

    /// AAP-3.1-12, AAP-16.2-05
    async fn an_access_token_works_in_its_own_project_only(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[countersign_engine::Role::User]).await;
        let connected = plane.connect_at("/projects/north", &alice, plane.acme(), &["calendar.read"]).await;
        let body = plane.register_body(plane.acme(), &connected);
        let answer = plane.post("/projects/north/agent/register", &body).await.expect(200).json();
        let agent = Registered {
            access_token: answer["access_token"].as_str().unwrap().into(),
            session_id: answer["session_id"].as_str().unwrap().into(),
            delegation_id: Some(connected.delegation_id.clone()),
            answer,
        };
        let abroad = plane.post("/projects/south/agent/register", &body).await;
        assert_eq!(abroad.refusal(), (401, "delegation_not_found".into()));

        // Twice, and at home in between: one project's cache must not help in the other.
        for _ in 0..2 {
            for address in [Address::Scoped("south".into()), Address::Subdomain("south".into())] {
                let request = agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
                let answer = send_to(&plane.api_at(address), request.body(Body::empty()).unwrap()).await;
                assert_eq!(answer.refusal(), (401, "access_token_invalid".into()));
            }
            let before = plane.upstream.reached().len();
            for address in [Address::Scoped("north".into()), Address::Subdomain("north".into())] {
                let request = agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
                send_to(&plane.api_at(address), request.body(Body::empty()).unwrap()).await.expect(200);
            }
            assert_eq!(plane.upstream.reached().len(), before + 2);
        }
    }
}

/// AAP-2-01
#[tokio::test]
async fn only_a_bearer_token_that_we_issued_is_one() {
    let scene = Kit(Backend::Sqlite).scene().await;
    let token = &scene.agent.access_token;
    let operator_jwt = scene.plane.acme().jwt(scene.plane.service(), scene.plane.now());
    let wrong = [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        format!("Bearer{token}"),
        format!("Basic {token}"),
        format!("Bearer {token}x"),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer {operator_jwt}"),
        format!("Bearer {}", scene.connected.delegation_id),
        format!("Bearer {}", scene.agent.session_id),
        token.clone(),
    ];
    for value in wrong {
        let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
        let answer = scene.plane.try_call(call.instead("authorization", &value)).await;
        assert_eq!(answer.refusal(), (401, "access_token_invalid".into()), "{value:?}");
    }
    let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
    let unbound = scene.plane.try_call(call.instead("authorization", &format!("DPoP {token}"))).await;
    assert_eq!(unbound.refusal(), (401, "dpop_invalid".into()), "a token that is bound to no key has no proof");
    assert_eq!(scene.reached(), 0);
    let call = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
    scene.plane.try_call(call.instead("authorization", &format!("bearer {token}"))).await.expect(200);
}

fn revoke_by_operator(scene: &countersign_testkit::Scene) -> Value {
    let operator_jwt = scene.plane.acme().jwt(scene.plane.service(), scene.plane.now());
    json!({ "delegation_id": scene.connected.delegation_id, "operator_jwt": operator_jwt })
}
