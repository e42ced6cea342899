//! An installation for many projects, and the addresses of each.

use super::{BASE, Door};
use crate::schemas;
use countersign_engine::Role;
use countersign_testkit::{Plane, Setup, on_sqlite};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// Two projects with different requirements.
fn setup() -> Setup {
    let mut setup = Setup::multi();
    setup.projects[0].minimum_tier = 1;
    setup.projects[1].display_name = "The South".into();
    setup.projects[1].credential_ttl = 900;
    setup
}

async fn manifest(plane: &Plane, host: &str, query: &str) -> countersign_testkit::Answer {
    let request = Request::get(format!("/.well-known/agent-auth.json{query}")).header(header::HOST, host);
    plane.send(request.body(axum::body::Body::empty()).unwrap()).await
}

on_sqlite! {
    /// AAP-3.1-03, AAP-3.1-04
    async fn without_a_project_the_manifest_has_defaults_and_templates(kit) {
        let plane = kit.plane_with(setup()).await;
        let manifest = manifest(&plane, BASE, "").await.expect(200).json();
        assert_eq!(manifest.get("project_id"), None);
        assert_eq!(manifest["minimum_tier"], 1);
        assert_eq!(manifest["intent_required"], true);
        assert_eq!(manifest["service"], plane.service());
        let endpoints = manifest["endpoints"].as_object().unwrap();
        for name in ["register", "delegate", "revoke", "audit"] {
            assert_eq!(endpoints[name], format!("/projects/{{projectId}}/agent/{name}"));
        }
        assert!(endpoints.values().all(|path| path.as_str().unwrap().contains("{projectId}")), "{endpoints:?}");
    }

    /// AAP-3.1-01, AAP-3.1-02, AAP-3.1-05, AAP-3.1-15
    async fn a_project_that_is_named_gets_its_own_settings_and_resolved_addresses(kit) {
        let plane = kit.plane_with(setup()).await;
        for (project, tier, ttl) in [("north", 1, 3600), ("south", 2, 900)] {
            let manifest = manifest(&plane, BASE, &format!("?projectId={project}")).await.expect(200).json();
            schemas::assert_valid("manifest", &manifest);
            assert_eq!(manifest["project_id"], project);
            assert_eq!((&manifest["minimum_tier"], &manifest["credential_ttl"]), (&json!(tier), &json!(ttl)));
            for path in manifest["endpoints"].as_object().unwrap().values() {
                let path = path.as_str().unwrap();
                assert!(path.starts_with(&format!("/projects/{project}/agent/")) && !path.contains(['{', '}']), "{path}");
            }
        }
    }

    /// AAP-3.1-01, AAP-3.1-07, AAP-3.1-15
    async fn on_its_own_host_a_project_has_unscoped_paths_and_its_own_name(kit) {
        let plane = kit.plane_with(setup()).await;
        for host in ["south.api.example.test", "SOUTH.api.example.TEST"] {
            let manifest = manifest(&plane, host, "").await.expect(200).json();
            schemas::assert_valid("manifest", &manifest);
            assert_eq!((&manifest["project_id"], &manifest["display_name"]), (&json!("south"), &json!("The South")));
            assert_eq!(manifest["service"], "https://south.api.example.test");
            assert_eq!(manifest["endpoints"]["register"], "/agent/register");
        }
        // The published endpoints work there.
        let carol = plane.person_in("south", "carol", &[Role::User]).await;
        let door = Door::by_host("south");
        let connected = door.connect(&plane, &carol, plane.acme()).await;
        let claims = schemas::claims_of(&connected.delegation_token);
        schemas::assert_valid("delegation-token", &claims);
        assert_eq!(claims["iss"], "https://south.api.example.test");
        let agent = door.registered(&plane, &connected, None).await;
        door.call(&plane, &agent).await.expect(200);
    }

    /// AAP-3.1-16
    async fn a_project_that_is_not_there_is_not_found_however_it_is_named(kit) {
        let plane = kit.plane_with(setup()).await;
        for (host, query) in [
            (BASE, "?projectId=nope"),
            (BASE, "?projectId="),
            (BASE, "?projectId=North"),
            (BASE, "?projectId=north%2F..%2Fsouth"),
            ("nope.api.example.test", ""),
            ("north.south.api.example.test", ""),
            ("north.api.example.test", "?projectId=south"),
            ("north.api.example.test", "?projectId=nope"),
        ] {
            let answer = manifest(&plane, host, query).await;
            assert_eq!(answer.refusal(), (404, "project_not_found".into()), "{host}{query}");
            schemas::assert_valid("error-envelope", &answer.json());
        }
    }

    /// AAP-3.1-18: on the base host no request is decided without a named project.
    async fn without_a_project_no_endpoint_does_anything(kit) {
        let plane = kit.plane_with(setup()).await;
        let carol = plane.person_in("north", "carol", &[Role::User, Role::Admin]).await;
        let north = Door::by_path("north");
        let connected = north.connect(&plane, &carol, plane.acme()).await;
        let agent = north.registered(&plane, &connected, None).await;
        let jwt = json!(plane.acme().jwt(plane.service(), plane.now()));
        let requests: Vec<(Method, &str, Value)> = vec![
            (Method::POST, "/agent/register", plane.register_body(plane.acme(), &connected)),
            (Method::POST, "/agent/delegate", json!({ "request_id": "req_x" })),
            (Method::POST, "/agent/delegate/requests", plane.connect_body(plane.acme(), &["calendar.read"])),
            (Method::POST, "/agent/delegate/token", plane.exchange_body(plane.acme(), "code_x")),
            (Method::POST, "/agent/revoke", json!({ "delegation_id": connected.delegation_id, "operator_jwt": jwt })),
            (Method::POST, "/agent/cancel", json!({ "session_id": agent.session_id, "operator_jwt": jwt })),
            (Method::GET, "/agent/audit", Value::Null),
            (Method::GET, "/v1/agents", Value::Null),
            (Method::GET, "/v1/project", Value::Null),
        ];
        for (method, path, body) in requests {
            let as_agent = carol.request(method.clone(), path).header("aap-version", "2.0");
            let as_agent = as_agent.header("x-csrf-token", &carol.csrf).header(header::CONTENT_TYPE, "application/json");
            let answer = plane.send(as_agent.body(axum::body::Body::from(body.to_string())).unwrap()).await;
            assert_eq!(answer.refusal(), (404, "project_not_found".into()), "{method} {path}");
        }
        let unscoped = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(unscoped.refusal(), (404, "project_not_found".into()));
        north.call(&plane, &agent).await.expect(200);
    }

    /// AAP-3.1-10: on a project's own host there is no other project, also not by path.
    async fn one_projects_host_leads_to_no_other_project(kit) {
        let plane = kit.plane_with(setup()).await;
        let carol = plane.person_in("north", "carol", &[Role::User, Role::Admin]).await;
        let crossed = Door { host: format!("south.{BASE}"), ..Door::by_path("north") };
        for path in ["/agent/audit?delegation_id=del_unknown", "/v1/agents", "/v1/project", "/agents"] {
            assert_eq!(crossed.read(&plane, &carol, path).await.status, 404, "{path}");
        }
        let body = json!({ "mode": "user_delegated", "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
        let answer = crossed.post(&plane, "/agent/register", &body).await;
        assert_eq!(answer.refusal(), (404, "project_not_found".into()));
        Door::by_path("north").read(&plane, &carol, "/v1/project").await.expect(200);
    }
}
