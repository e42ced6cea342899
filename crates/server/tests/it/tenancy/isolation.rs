//! Data of `north` is unknown in `south`: at every endpoint, for every kind, by path and by host.
//!
//! The caller has everything else that could be needed: the same person, the same operator, every role in the
//! south. Each attempt is repeated with an id that never existed, and the two responses must be equal.

mod attempts;

use super::Door;
use attempts::{Attempt, By};
use axum::body::Body;
use countersign_engine::{ApiKeyKind, NewKey, Role};
use countersign_protocol::ids::ProjectId;
use countersign_testkit::{
    Answer, Connected, Kit, Plane, Registered, Setup, TestPerson, agent_request, on_both_stores,
};
use http::{Method, header};
use serde_json::{Value, json};

struct World {
    plane: Plane,
    carol: TestPerson,
    north: Side,
    south: Side,
}

/// The data of one project.
struct Side {
    connected: Connected,
    receipt: String,
    agent: Registered,
    /// Open, with a disclosure that was shown for it.
    request: String,
    disclosure: String,
    code: String,
    cursor: String,
    admin_key: String,
}

impl World {
    /// Both projects have one of everything, made through `doors`.
    async fn new(kit: Kit, doors: fn(&'static str) -> Door) -> Self {
        let plane = kit.plane_with(Setup::multi()).await;
        let carol = plane.person_in("north", "carol", &[Role::User]).await;
        plane.give_roles("south", "carol", &[Role::User, Role::Admin, Role::Auditor]).await;
        plane.account(ONLY_IN_NORTH).await;
        plane.give_roles("north", ONLY_IN_NORTH, &[Role::User]).await;
        let north = Side::new(&plane, &carol, &doors("north")).await;
        let south = Side::new(&plane, &carol, &doors("south")).await;
        Self { plane, carol, north, south }
    }

    async fn send(&self, attempt: &Attempt, door: &Door, thing: &str) -> Answer {
        let filled = |text: &str| text.replace("{thing}", thing);
        let path = door.path(&filled(&attempt.path));
        let mut body: Value = serde_json::from_str(&filled(&attempt.body.to_string())).unwrap();
        let jwt = door.jwt(&self.plane, self.plane.acme());
        let request = door.at(agent_request(attempt.method.clone(), &path));
        let bearer = |token: &str| format!("Bearer {token}");
        let request = match &attempt.by {
            By::Carol => request.header(header::COOKIE, &self.carol.cookie).header("x-csrf-token", &self.carol.csrf),
            By::Operator => {
                body["operator_jwt"] = json!(jwt);
                request
            }
            By::OperatorHeader => request.header(header::AUTHORIZATION, bearer(&jwt)),
            By::Bearer(token) => request.header(header::AUTHORIZATION, bearer(token)),
            By::TheThing => request.header(header::AUTHORIZATION, bearer(thing)),
        };
        self.plane.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Fails unless the south's response for the north's data equals that for an id that never existed.
    async fn is_unknown_in_the_south(&self, attempt: &Attempt) {
        for door in Door::both("south") {
            let what = format!("{} at {}{}", attempt.what, door.host, door.path(&attempt.path));
            let theirs = self.send(attempt, &door, &attempt.thing).await;
            let (status, code) = attempt.refused;
            assert_eq!(theirs.refusal(), (status, code.into()), "{what}: {}", theirs.text());
            if !attempt.unknown.is_empty() {
                let nobodys = self.send(attempt, &door, attempt.unknown).await;
                assert_eq!(told(&theirs), told(&nobodys), "{what}");
            }
            assert!(!theirs.text().contains(&attempt.thing), "{what} is repeated");
        }
    }
}

/// A response without the parts that differ from request to request.
fn told(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("request_id");
    (answer.status, body)
}

impl Side {
    async fn new(plane: &Plane, carol: &TestPerson, door: &Door) -> Self {
        let acme = plane.acme();
        let connected = door.connect(plane, carol, acme).await;
        let receipt = door.receipt(plane, &connected, "carol", SESSION);
        let agent = door.registered(plane, &connected, Some(&receipt)).await;
        door.call(plane, &agent).await.expect(200);
        let approved = door.connect_request(plane, acme).await;
        let shown = door.show(plane, carol, &approved).await.expect(200).json();
        let granted = door.agree(plane, carol, &approved, &shown["disclosure_id"]).await.expect(201).json();
        let request = door.connect_request(plane, acme).await;
        let shown = door.show(plane, carol, &request).await.expect(200).json();
        let query = format!("delegation_id={}&limit=1", connected.delegation_id);
        let page = door.audit(plane, carol, &query).await.expect(200).json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            receipt,
            agent,
            request,
            disclosure: text(&shown["disclosure_id"]),
            code: text(&granted["code"]),
            cursor: text(&page["next_cursor"]),
            admin_key: admin_key(plane, door.project).await,
            connected,
        }
    }
}

/// The same session id in both projects, as an operator is free to choose it.
const SESSION: &str = "sess_5e1ec7ed5e1ec7ed5e1ec7ed5e1ec7ed";

/// A session id that only the north knows.
const ONLY_NORTH: &str = "sess_0000000000000000000000000000feed";

/// A person of the north only.
const ONLY_IN_NORTH: &str = "norbert";

async fn admin_key(plane: &Plane, project: &str) -> String {
    let project = plane.engine.find_project(&ProjectId::parse(project).unwrap()).await.unwrap().unwrap();
    let new = NewKey {
        kind: ApiKeyKind::Admin,
        principal: "deployer".into(),
        responsible: "carol".into(),
        actions: Vec::new(),
        asks: Vec::new(),
        jkt: None,
    };
    plane.engine.people().add_key(&project, &new).await.unwrap().secret
}

/// Tries everything, then shows that all of it still exists and works at home.
async fn nothing_crosses(kit: Kit, doors: fn(&'static str) -> Door) {
    let world = World::new(kit, doors).await;
    let home = doors("north");
    // A session without a namesake in the south.
    let receipt = home.receipt(&world.plane, &world.north.connected, "carol", ONLY_NORTH);
    home.registered(&world.plane, &world.north.connected, Some(&receipt)).await;
    let before = records(&world).await;
    let all = attempts::all(&world);
    covers_every_endpoint(&world, &all).await;
    for attempt in &all {
        world.is_unknown_in_the_south(attempt).await;
    }
    assert_eq!(records(&world).await, before, "an attempt changed something");
    for attempt in &all {
        if let Some(status) = attempt.at_home {
            let answer = world.send(attempt, &home, &attempt.thing).await;
            assert_eq!(answer.status, status, "{} at home: {}", attempt.what, answer.text());
        }
    }
    let agreed = home.agree(&world.plane, &world.carol, &world.north.request, &json!(world.north.disclosure)).await;
    agreed.expect(201);
    let query = format!("delegation_id={}&limit=1&cursor={}", world.north.connected.delegation_id, world.north.cursor);
    home.audit(&world.plane, &world.carol, &query).await.expect(200);
}

/// Both projects' records of their delegations and documents.
async fn records(world: &World) -> Vec<Value> {
    let mut all = Vec::new();
    for (project, side) in [("north", &world.north), ("south", &world.south)] {
        let door = Door::by_path(project);
        let query = format!("delegation_id={}", side.connected.delegation_id);
        all.push(door.audit(&world.plane, &world.carol, &query).await.expect(200).json());
        all.push(door.read(&world.plane, &world.carol, "/v1/agents").await.expect(200).json());
        let id = ProjectId::parse(project).unwrap();
        all.push(json!(world.plane.engine.find_project(&id).await.unwrap().unwrap().version));
    }
    all
}

/// Fails if an added endpoint is not covered.
async fn covers_every_endpoint(world: &World, all: &[Attempt]) {
    let manifest = world.plane.get("/.well-known/agent-auth.json?projectId=south").await.expect(200).json();
    for (name, path) in manifest["endpoints"].as_object().unwrap() {
        let path = path.as_str().unwrap().trim_start_matches("/projects/south");
        // A connect request carries nothing that could belong to another project.
        let tried = name == "connect" || all.iter().any(|a| a.path.split('?').next() == Some(path));
        assert!(tried, "nothing of the north was tried at {path}");
    }
}

on_both_stores! {
    /// AAP-3.1-10, AAP-3.1-11, AAP-3.1-12, AAP-3.1-17, AAP-3.1-19, AAP-3.1-20
    async fn nothing_made_under_one_projects_path_exists_in_another(kit) {
        nothing_crosses(kit, Door::by_path).await;
    }

    /// AAP-3.1-10, AAP-3.1-11, AAP-3.1-12, AAP-3.1-17, AAP-3.1-19, AAP-3.1-20
    async fn nothing_made_on_one_projects_host_exists_in_another(kit) {
        nothing_crosses(kit, Door::by_host).await;
    }

    /// AAP-3.1-12
    async fn an_access_token_opens_the_api_of_its_own_project_alone(kit) {
        let world = World::new(kit, Door::by_path).await;
        let reached = world.plane.upstream.reached().len();
        for door in Door::both("south") {
            let theirs = door.call(&world.plane, &world.north.agent).await;
            assert_eq!(theirs.refusal(), (401, "access_token_invalid".into()));
            let mut nobodys = world.north.agent.clone();
            nobodys.access_token = "tok_unknown".into();
            assert_eq!(told(&theirs), told(&door.call(&world.plane, &nobodys).await));
        }
        assert_eq!(world.plane.upstream.reached().len(), reached, "something was forwarded");
        for door in Door::both("north") {
            door.call(&world.plane, &world.north.agent).await.expect(200);
        }
    }

    /// AAP-3.1-10, AAP-3.1-13
    async fn calls_in_one_project_are_not_counted_in_another(kit) {
        let world = World::new(kit, Door::by_path).await;
        let (north, south) = (Door::by_path("north"), Door::by_path("south"));
        let total = async |door: &Door, query: &str| {
            let page = door.audit(&world.plane, &world.carol, query).await.expect(200).json();
            crate::schemas::assert_valid("audit-page", &page);
            let entries = page["entries"].as_array().unwrap();
            assert_eq!(page["total_count"], entries.len());
            let of_side = if door.project == "north" { &world.north } else { &world.south };
            let own = &of_side.connected.delegation_id;
            assert!(entries.iter().all(|e| e["delegation_id"] == own.as_str()), "{page:#}");
            entries.len()
        };
        // The same person, the same operator, and a session of the same name.
        let by_session = format!("session_id={SESSION}");
        let before = (total(&north, &by_session).await, total(&south, &by_session).await);
        assert_eq!(before.0, before.1);
        for _ in 0..3 {
            north.call(&world.plane, &world.north.agent).await.expect(200);
        }
        assert_eq!((total(&north, &by_session).await, total(&south, &by_session).await), (before.0 + 3, before.1));
        let by_delegation = format!("delegation_id={}", world.south.connected.delegation_id);
        let seen = total(&south, &by_delegation).await;
        south.call(&world.plane, &world.south.agent).await.expect(200);
        assert_eq!(total(&south, &by_delegation).await, seen + 1);
    }

    /// AAP-3.1-10: an end in one project ends nothing in another, despite everything that the two share.
    async fn an_end_in_one_project_is_none_in_another(kit) {
        let world = World::new(kit, Door::by_path).await;
        let (north, south) = (Door::by_path("north"), Door::by_path("south"));
        let cancel = json!({ "session_id": SESSION, "operator_jwt": north.jwt(&world.plane, world.plane.acme()) });
        north.post(&world.plane, "/agent/cancel", &cancel).await.expect(200);
        assert_eq!(north.call(&world.plane, &world.north.agent).await.status, 401);
        south.call(&world.plane, &world.south.agent).await.expect(200);
        // The receipt was revoked in the north; the south's is another one, though of the same session.
        let again = north.register(&world.plane, &world.north.connected, Some(&world.north.receipt)).await;
        assert_eq!(again.refusal(), (401, "consent_invalid".into()));
        south.registered(&world.plane, &world.south.connected, Some(&world.south.receipt)).await;

        let revoke = json!({ "delegation_id": world.north.connected.delegation_id });
        north.person(&world.plane, &world.carol, Method::POST, "/agent/revoke", &revoke).await.expect(200);
        south.call(&world.plane, &world.south.agent).await.expect(200);
    }
}
