//! A delegation belongs to one project, and an operator is its domain (AAP 3.1, 13.2).

use countersign_engine::Role;
use countersign_testkit::{Setup, TestPerson, on_sqlite};
use serde_json::json;

on_sqlite! {
    /// AAP-3.1-18
    async fn a_delegation_is_given_only_in_a_project_that_exists_by_one_of_its_users(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[Role::User]).await;
        let body = json!({ "request_id": "creq_0" });
        for path in ["/projects/nowhere/agent/delegate", "/agent/delegate"] {
            let answer = alice.post(&plane, path, &body).await;
            assert_eq!(answer.refusal(), (404, "project_not_found".into()), "{path}");
        }
        let asked = plane.connect_body(plane.acme(), &["calendar.read"]);
        let answer = plane.post("/projects/nowhere/agent/delegate/requests", &asked).await;
        assert_eq!(answer.refusal(), (404, "project_not_found".into()));

        let waiting = plane.connect_request("/projects/south", plane.acme(), &["calendar.read"]).await;
        for body in [json!({ "request_id": waiting }), json!({ "request_id": waiting, "approve": false })] {
            let answer = alice.post(&plane, "/projects/south/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{body}");
        }
        // South's request, answered through north, where she is a user.
        let answer = alice.post(&plane, "/projects/north/agent/delegate", &json!({ "request_id": waiting })).await;
        assert_eq!(answer.refusal(), (410, "connect_request_gone".into()));
        for project in ["north", "south"] {
            let agents = alice.get(&plane, &format!("/projects/{project}/v1/agents")).await.expect(200).json();
            assert_eq!(agents, json!({ "agents": [] }));
        }
        let bob = plane.person_in("south", "bob", &[Role::User]).await;
        plane.approve_at("/projects/south", &bob, &waiting).await;
    }

    /// AAP-3.1-18
    async fn a_disclosure_of_one_project_is_no_use_in_another(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        plane.account("alice").await;
        for project in ["north", "south"] {
            plane.give_roles(project, "alice", &[Role::User]).await;
        }
        let alice = TestPerson::sign_in(&plane, "alice").await;
        let north = plane.connect_request("/projects/north", plane.acme(), &["calendar.read"]).await;
        let south = plane.connect_request("/projects/south", plane.acme(), &["calendar.read"]).await;
        let path = "/projects/north/agent/delegate";
        let shown = alice.post(&plane, path, &json!({ "request_id": north })).await.expect(200).json();
        let id = &shown["disclosure_id"];
        let yes = json!({ "request_id": south, "disclosure_id": id, "acknowledged_disclosure": true });
        let answer = alice.post(&plane, "/projects/south/agent/delegate", &yes).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
    }
}
