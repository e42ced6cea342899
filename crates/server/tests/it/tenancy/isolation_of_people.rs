//! A role in one project is none in another.

use super::Door;
use countersign_engine::Role;
use countersign_testkit::{Connected, Kit, Plane, Setup, TestPerson, on_sqlite};
use http::Method;
use serde_json::{Value, json};

/// Alice uses the north; root administers the south and has no role in the north.
struct World {
    plane: Plane,
    alice: TestPerson,
    root: TestPerson,
    connected: Connected,
}

impl World {
    async fn new(kit: Kit) -> Self {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("north", "alice", &[Role::User, Role::Admin, Role::Auditor]).await;
        let root = plane.person_in("south", "root", &[Role::User, Role::Admin, Role::Auditor]).await;
        let connected = Door::by_path("north").connect(&plane, &alice, plane.acme()).await;
        Self { plane, alice, root, connected }
    }
}

on_sqlite! {
    /// AAP-3.1-10, AAP-3.1-19, AAP-3.1-20
    async fn an_admin_of_one_project_is_nobody_in_another(kit) {
        let world = World::new(kit).await;
        let id = &world.connected.delegation_id;
        for door in Door::both("north") {
            for (id, what) in [(id.as_str(), "alice's"), ("del_000000000000000000000000000000", "nobody's")] {
                let audit = door.audit(&world.plane, &world.root, &format!("delegation_id={id}")).await;
                assert_eq!(audit.refusal(), (401, "delegation_not_found".into()), "{what}");
                let revoke = json!({ "delegation_id": id });
                let revoke = door.person(&world.plane, &world.root, Method::POST, "/agent/revoke", &revoke).await;
                assert_eq!(revoke.refusal(), (401, "delegation_not_found".into()), "{what}");
            }
            let document = json!(countersign_testkit::calendar("north"));
            for (method, body) in [(Method::GET, Value::Null), (Method::PUT, document)] {
                let answer = door.person(&world.plane, &world.root, method, "/v1/project", &body).await;
                assert_eq!(answer.refusal(), (403, "not_authorized".into()));
            }
            assert_eq!(door.read(&world.plane, &world.root, "/v1/agents").await.expect(200).json(), json!({ "agents": [] }));
        }
        let agent = Door::by_path("north").registered(&world.plane, &world.connected, None).await;
        Door::by_path("north").call(&world.plane, &agent).await.expect(200);
    }

    /// AAP-3.1-13
    async fn each_project_lists_its_own_connections_to_the_same_person(kit) {
        let world = World::new(kit).await;
        world.plane.give_roles("south", "alice", &[Role::User]).await;
        let other = Door::by_host("south").connect(&world.plane, &world.alice, world.plane.acme()).await;
        for (project, own) in [("north", &world.connected), ("south", &other)] {
            for door in Door::both(project) {
                let listed = door.read(&world.plane, &world.alice, "/v1/agents").await.expect(200).json();
                let ids: Vec<_> = listed["agents"].as_array().unwrap().iter().map(|a| a["delegation_id"].clone()).collect();
                assert_eq!(ids, [json!(own.delegation_id)], "{project} at {}", door.host);
            }
        }
    }

    /// AAP-3.1-10: a project's changes to itself affect no other.
    async fn a_projects_document_is_its_own(kit) {
        let world = World::new(kit).await;
        let (north, south) = (Door::by_path("north"), Door::by_path("south"));
        let before = world.plane.get("/.well-known/agent-auth.json?projectId=south").await.expect(200).json();
        let mut document = countersign_testkit::calendar("north");
        document.scopes.retain(|scope| scope.id == "clock.read");
        document.routes.retain(|route| route.action == "clock.get");
        north.person(&world.plane, &world.alice, Method::PUT, "/v1/project", &json!(document)).await.expect(200);
        assert_eq!(world.plane.get("/.well-known/agent-auth.json?projectId=south").await.expect(200).json(), before);
        let crossed = south.person(&world.plane, &world.root, Method::PUT, "/v1/project", &json!(document)).await;
        assert_eq!(crossed.refusal(), (400, "invalid_request".into()), "the north's document is not for the south");
        let connected = south.connect(&world.plane, &world.root, world.plane.acme()).await;
        let agent = south.registered(&world.plane, &connected, None).await;
        south.call(&world.plane, &agent).await.expect(200);
    }
}
