//! API keys: one kind, one project, a responsible person, and never a person's approval.

use super::{add, new_key, project, refused};
use axum::body::Body;
use countersign_engine::{Address, ApiKeyKind};
use countersign_testkit::{Answer, Connected, Plane, Setup, agent_request, on_sqlite};
use http::{Method, header};
use serde_json::{Value, json};

async fn with_key(plane: &Plane, key: &str, method: Method, path: &str, body: &Value) -> Answer {
    let request = agent_request(method, path).header(header::AUTHORIZATION, format!("Bearer {key}"));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn audit(plane: &Plane, key: &str, connected: &Connected) -> Answer {
    let path = format!("/agent/audit?delegation_id={}", connected.delegation_id);
    with_key(plane, key, Method::GET, &path, &Value::Null).await
}

async fn revoke(plane: &Plane, key: &str, connected: &Connected) -> Answer {
    let body = json!({ "delegation_id": connected.delegation_id, "reason": "admin_requested" });
    with_key(plane, key, Method::POST, "/agent/revoke", &body).await
}

async fn connected(plane: &Plane) -> Connected {
    plane.account("root").await;
    let alice = plane.person("alice").await;
    plane.connect(&alice, plane.acme(), &["calendar.read"]).await
}

on_sqlite! {
    ///
    async fn keys_of_agents_and_enforcement_points_administer_nothing(kit) {
        let plane = kit.plane().await;
        let connected = connected(&plane).await;
        let document = serde_json::to_value(&project(&plane, Address::Unscoped).await.document).unwrap();
        let waiting = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
        for kind in [ApiKeyKind::Agent, ApiKeyKind::EnforcementPoint] {
            let key = add(&plane, kind).await.secret;
            let not_found = (401, "delegation_not_found".to_owned());
            assert_eq!(audit(&plane, &key, &connected).await.refusal(), not_found, "{kind:?}");
            assert_eq!(revoke(&plane, &key, &connected).await.refusal(), not_found, "{kind:?}");
            for (method, body) in [(Method::GET, &Value::Null), (Method::PUT, &document)] {
                let answer = with_key(&plane, &key, method, "/v1/project", body).await;
                assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{kind:?}");
            }
            for body in [json!({ "request_id": waiting }), json!({ "request_id": waiting, "approve": false })] {
                let answer = with_key(&plane, &key, Method::POST, "/agent/delegate", &body).await;
                assert_eq!(answer.refusal(), (401, "sign_in_required".into()), "{kind:?}");
            }
            let agents = with_key(&plane, &key, Method::GET, "/v1/agents", &Value::Null).await;
            assert_eq!(agents.refusal(), (401, "sign_in_required".into()), "{kind:?}");
        }
        plane.register(plane.acme(), &connected).await;
    }

    ///
    async fn no_key_of_any_kind_passes_for_an_access_token_or_a_sign_in(kit) {
        let plane = kit.plane().await;
        connected(&plane).await;
        for kind in [ApiKeyKind::Agent, ApiKeyKind::EnforcementPoint, ApiKeyKind::Admin] {
            let key = add(&plane, kind).await.secret;
            let agent = countersign_testkit::Registered {
                access_token: key.clone(),
                session_id: format!("sess_{}", "0".repeat(32)),
                delegation_id: None,
                answer: Value::Null,
            };
            let call = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
            assert_eq!(call.refusal(), (401, "access_token_invalid".into()), "{kind:?}");
            let session = with_key(&plane, &key, Method::GET, "/session", &Value::Null).await;
            assert_eq!(session.refusal(), (401, "sign_in_required".into()), "{kind:?}");
        }
        assert!(plane.upstream.reached().is_empty());
    }

    ///
    async fn an_admins_key_reads_the_audit_revokes_and_applies_the_document(kit) {
        let plane = kit.plane().await;
        let connected = connected(&plane).await;
        let key = add(&plane, ApiKeyKind::Admin).await.secret;
        assert_eq!(audit(&plane, &key, &connected).await.expect(200).json()["total_count"], 1);
        let mut shown = with_key(&plane, &key, Method::GET, "/v1/project", &Value::Null).await.expect(200).json();
        shown["document"]["display_name"] = json!("Renamed");
        let applied = with_key(&plane, &key, Method::PUT, "/v1/project", &shown["document"]).await.expect(200).json();
        assert_eq!(applied["version"], shown["version"].as_i64().unwrap() + 1);
        revoke(&plane, &key, &connected).await.expect(200);
        let entries = audit(&plane, &key, &connected).await.expect(200).json()["entries"].clone();
        let last = &entries.as_array().unwrap().last().unwrap();
        assert_eq!(last["event_type"], "delegation_revoked");
        assert_eq!((&last["by"], &last["reason"]), (&json!("admin"), &json!("admin_requested")));
        let register = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(register.refusal(), (401, "delegation_revoked".into()));
    }

    ///
    async fn a_revoked_key_is_refused_at_once_and_cannot_be_used_to_find_anything_out(kit) {
        let plane = kit.plane().await;
        let connected = connected(&plane).await;
        let (key, other) = (add(&plane, ApiKeyKind::Admin).await, add(&plane, ApiKeyKind::Admin).await);
        audit(&plane, &key.secret, &connected).await.expect(200);
        plane.engine.people().revoke_key(&project(&plane, Address::Unscoped).await, &key.key.id).await.unwrap();
        let unknown = format!("csk_{}", "A".repeat(43));
        let never = audit(&plane, &unknown, &connected).await;
        assert_eq!(never.refusal(), (403, "not_authorized".into()));
        for answer in [
            audit(&plane, &key.secret, &connected).await,
            revoke(&plane, &key.secret, &connected).await,
            with_key(&plane, &key.secret, Method::GET, "/v1/project", &Value::Null).await,
        ] {
            assert_eq!(answer.refusal(), never.refusal());
            assert_eq!(answer.json()["error_description"], never.json()["error_description"]);
        }
        audit(&plane, &other.secret, &connected).await.expect(200);
        let id = plane.engine.people().revoke_key(&project(&plane, Address::Unscoped).await, "key_none").await;
        assert!(id.is_err(), "a key that was never made cannot be revoked");
    }

    ///
    async fn a_key_of_one_project_is_none_in_another(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        plane.account("root").await;
        let north = project(&plane, Address::Scoped("north".into())).await;
        let key = plane.engine.people().add_key(&north, &new_key(ApiKeyKind::Admin)).await.unwrap();
        with_key(&plane, &key.secret, Method::GET, "/projects/north/v1/project", &Value::Null).await.expect(200);
        let document = serde_json::to_value(&north.document).unwrap();
        for (method, path) in [
            (Method::GET, "/projects/south/v1/project"),
            (Method::PUT, "/projects/south/v1/project"),
            (Method::GET, "/projects/south/agent/audit?delegation_id=del_0000000000"),
        ] {
            let answer = with_key(&plane, &key.secret, method, path, &document).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{path}");
        }
        let south = project(&plane, Address::Scoped("south".into())).await;
        assert!(plane.engine.people().revoke_key(&south, &key.key.id).await.is_err());
        with_key(&plane, &key.secret, Method::GET, "/projects/north/v1/project", &Value::Null).await.expect(200);
    }

    ///
    async fn a_key_names_its_principal_an_existing_person_and_actions_of_the_project(kit) {
        let plane = kit.plane().await;
        plane.account("root").await;
        assert!(refused(&plane, |new| new.responsible = "nobody".into()).await.is_some());
        assert!(refused(&plane, |new| new.actions = vec!["events.launch".into()]).await.is_some());
        let mixed = vec!["events.list".into(), "events.launch".into()];
        assert!(refused(&plane, |new| new.actions = mixed).await.is_some());
        assert!(refused(&plane, |new| new.principal = " ".into()).await.is_some());
        assert!(refused(&plane, |new| new.principal = "p".repeat(129)).await.is_some());
        assert!(plane.engine.people().api_keys(project(&plane, Address::Unscoped).await.key).await.unwrap().is_empty());
        assert!(refused(&plane, |new| new.actions = vec!["events.list".into()]).await.is_none());
        let made = plane.engine.people().api_keys(project(&plane, Address::Unscoped).await.key).await.unwrap();
        assert_eq!((made.len(), made[0].kind), (1, ApiKeyKind::Agent));
        assert_eq!(made[0].actions, ["events.list"]);
    }
}
