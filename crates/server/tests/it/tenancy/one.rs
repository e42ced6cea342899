//! An installation for one project.

use countersign_engine::{ApplyError, ApplyRefusal, Role};
use countersign_testkit::{Setup, calendar, on_sqlite};
use http::Method;
use serde_json::{Value, json};

on_sqlite! {
    ///
    async fn a_second_project_is_refused_on_every_way(kit) {
        let plane = kit.plane().await;
        let second = plane.engine.apply_project(calendar("second"), "test").await;
        assert!(matches!(second, Err(ApplyError::Refused(ApplyRefusal::SecondProject))), "{second:?}");
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let document = json!(calendar("second"));
        let put = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
        assert_eq!(put.refusal(), (400, "invalid_request".into()));
        let put = admin.send(&plane, Method::PUT, "/projects/second/v1/project", &document).await;
        assert_eq!(put.refusal(), (404, "project_not_found".into()));
        assert_eq!(plane.engine.projects().await.unwrap().len(), 1);
    }

    /// AAP-3.1-15, AAP-3.1-16
    async fn the_only_project_is_named_only_when_asked_for_and_no_other_name_finds_it(kit) {
        let plane = kit.plane().await;
        let manifest = async |query: &str| plane.get(&format!("/.well-known/agent-auth.json{query}")).await;
        for nobody in ["nope", "Calendar", "calendar%20", "", "north"] {
            let answer = manifest(&format!("?projectId={nobody}")).await;
            assert_eq!(answer.refusal(), (404, "project_not_found".into()), "{nobody:?}");
        }
        let plain = manifest("").await.expect(200).json();
        assert_eq!(plain.get("project_id"), None);
        let mut named = manifest("?projectId=calendar").await.expect(200).json();
        assert_eq!(named["project_id"], "calendar");
        named.as_object_mut().unwrap().remove("project_id");
        assert_eq!(named, plain, "nothing else differs");
        assert_eq!(plain["endpoints"]["register"], "/agent/register");
    }

    /// AAP-3.1-18
    async fn the_only_project_answers_under_its_own_path_and_under_no_other(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect_at("/projects/calendar", &alice, plane.acme(), &["calendar.read"]).await;
        for nobody in ["nope", "Calendar", "%FF", "calendar%00"] {
            for path in ["register", "delegate", "delegate/requests", "delegate/token", "revoke", "cancel"] {
                let body = plane.register_body(plane.acme(), &connected);
                let answer = plane.post(&format!("/projects/{nobody}/agent/{path}"), &body).await;
                assert_eq!(answer.refusal(), (404, "project_not_found".into()), "{nobody} {path}");
            }
            let audit = format!("/projects/{nobody}/agent/audit?delegation_id={}", connected.delegation_id);
            assert_eq!(alice.get(&plane, &audit).await.refusal(), (404, "project_not_found".into()), "{nobody}");
            let agents = alice.get(&plane, &format!("/projects/{nobody}/v1/agents")).await;
            assert_eq!(agents.refusal(), (404, "project_not_found".into()), "{nobody}");
        }
        plane.register(plane.acme(), &connected).await;
    }

    /// AAP-3.1-16: before the first project is created, none is found.
    async fn an_installation_without_a_project_says_so(kit) {
        let plane = kit.plane_with(Setup { projects: Vec::new(), ..Setup::default() }).await;
        for path in ["/.well-known/agent-auth.json", "/agent/audit?delegation_id=del_unknown"] {
            assert_eq!(plane.get(path).await.refusal(), (404, "project_not_found".into()), "{path}");
        }
        let body = json!({ "mode": "user_delegated", "operator_jwt": "x.y.z" });
        let answer = plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (404, "project_not_found".into()));
        assert_ne!(answer.json()["hint"], Value::Null);
    }
}
