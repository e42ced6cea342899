//! `GET /v1/audit`: who decided what, how surely, and what became of it.

use axum::body::Body;
use countersign_engine::{ApiKeyKind, NewKey, Role};
use countersign_protocol::ids::ProjectId;
use countersign_testkit::{
    Answer, Plane, Setup, TestAgent, TestPerson,
    decisions::{DecisionFixture, payments},
    on_both_stores, on_sqlite,
};
use http::{Method, Request, header};
use serde_json::{Value, json};

async fn by_key(plane: &Plane, key: &str, path: &str) -> Answer {
    let request =
        Request::builder().method(Method::GET).uri(path).header(header::AUTHORIZATION, format!("Bearer {key}"));
    countersign_testkit::send_to(&plane.public, request.body(Body::empty()).unwrap()).await
}

/// A project with an auditor who holds no other role.
struct Audited {
    fixture: DecisionFixture,
    ines: TestPerson,
}

impl Audited {
    async fn on(plane: Plane) -> Self {
        let fixture = DecisionFixture::on(plane).await;
        let ines = fixture.plane.person_in("calendar", "ines", &[Role::Auditor]).await;
        Self { fixture, ines }
    }

    async fn page(&self, query: &str) -> Value {
        self.ines.get(&self.fixture.plane, &format!("/v1/audit?{query}")).await.expect(200).json()
    }

    /// All entries of a search, in pages of this size.
    async fn all(&self, query: &str, limit: usize) -> Vec<Value> {
        let (mut entries, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.page(&format!("{query}&limit={limit}&cursor={cursor}")).await;
            let found = page["entries"].as_array().unwrap();
            assert!(found.len() <= limit);
            entries.extend(found.iter().cloned());
            cursor = page["next_cursor"].as_str().unwrap().to_owned();
            if page["more"] == false {
                return entries;
            }
        }
    }

    async fn accepted_and_committed(&self, n: u32) -> Value {
        let DecisionFixture { plane, alice, agent } = &self.fixture;
        let asked = agent.requests_approval(plane, "payments.send", json!({ "n": n })).await;
        alice.accepts(plane, &asked).await;
        agent.claims(plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
        agent.reports(plane, &asked, "committed").await.expect(200);
        asked
    }
}

fn words<'e>(entries: &'e [Value], name: &str) -> Vec<&'e str> {
    entries.iter().map(|entry| entry[name].as_str().unwrap()).collect()
}

on_both_stores! {
    ///
    async fn an_auditor_reads_who_approved_how_surely_and_what_became_of_it(kit) {
        let audited = Audited::on(kit.plane_with(Setup::payments()).await).await;
        let asked = audited.accepted_and_committed(1).await;
        let entries = audited.all(&format!("decision_id={}", asked["decision_id"].as_str().unwrap()), 50).await;
        assert_eq!(words(&entries, "event_type"), ["decision_raised", "decision_settled", "execution_claimed", "execution_settled"]);
        assert_eq!(words(&entries, "result"), ["recorded", "accepted", "recorded", "committed"]);
        let [_, settled, claimed, committed] = entries.as_slice() else { panic!("{entries:#?}") };
        for (name, value) in [("decided_by", json!("alice")), ("assurance", json!("fresh")), ("proven_by", json!("password")), ("via", json!("page"))] {
            assert_eq!(settled["members"][name], value, "{settled:#}");
        }
        assert!(settled["members"]["proven_seconds_before"].is_i64(), "{settled:#}");
        assert_eq!((&claimed["members"]["approved_by"], &claimed["members"]["approval"]), (&json!("alice"), &json!("accepted")));
        assert_eq!(claimed["members"]["execution_id"], committed["members"]["execution_id"]);
        assert_eq!(claimed["members"]["call_id"], committed["members"]["call_id"]);
        assert!(committed["members"]["call_id"].is_string(), "{committed:#}");
    }

    ///
    async fn refused_expired_unknown_and_reconciled_are_told_at_a_glance(kit) {
        let audited = Audited::on(kit.plane_with(Setup::payments()).await).await;
        let DecisionFixture { plane, alice, agent } = &audited.fixture;
        let rejected = agent.requests_approval(plane, "payments.send", json!({ "n": 1 })).await;
        alice.rejects(plane, &rejected, None).await;
        let unknown = agent.requests_approval(plane, "payments.send", json!({ "n": 2 })).await;
        alice.accepts(plane, &unknown).await;
        agent.claims(plane, &unknown, &json!({ "digest": unknown["digest"] })).await.expect(200);
        let expired = agent.requests_approval(plane, "payments.send", json!({ "n": 3 })).await;
        plane.advance_secs(400).await;
        for (outcome, decision) in [("rejected", &rejected), ("unknown", &unknown), ("expired", &expired)] {
            let found = audited.all(&format!("outcome={outcome}"), 50).await;
            let ids: Vec<&Value> = found.iter().map(|entry| &entry["members"]["decision_id"]).collect();
            assert_eq!(ids, [&decision["decision_id"]], "{outcome}");
        }
        let page = audited.ines.get(plane, "/v1/audit?outcome=nonsense").await;
        assert_eq!(page.refusal().0, 400);
    }

    ///
    async fn pages_of_any_size_and_both_exports_have_the_same_entries_in_the_same_order(kit) {
        let audited = Audited::on(kit.plane_with(Setup::payments()).await).await;
        for n in 0..4 {
            audited.accepted_and_committed(n).await;
            audited.fixture.plane.advance_secs(1).await;
        }
        let whole = audited.all("", 500).await;
        assert!(whole.len() > 16, "{}", whole.len());
        for limit in [1, 3, 7] {
            assert_eq!(audited.all("", limit).await, whole, "limit {limit}");
        }
        let plane = &audited.fixture.plane;
        let lines = audited.ines.get(plane, "/v1/audit?format=jsonl").await.expect(200);
        assert_eq!(lines.headers[header::CONTENT_TYPE], "application/jsonl");
        let parsed: Vec<Value> = lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(parsed, whole);
        let csv = audited.ines.get(plane, "/v1/audit?format=csv").await.expect(200).text();
        let mut rows = csv.split("\r\n");
        assert!(rows.next().unwrap().starts_with("timestamp,event_type,result,decided_by,"), "{csv}");
        assert_eq!(rows.filter(|row| !row.is_empty()).count(), whole.len());
        let from = whole[whole.len() - 3]["timestamp"].as_str().unwrap();
        let late: Vec<&Value> = whole.iter().filter(|entry| entry["timestamp"].as_str().unwrap() >= from).collect();
        assert_eq!(audited.all(&format!("from={from}"), 2).await.iter().collect::<Vec<_>>(), late);
        let early: Vec<&Value> = whole.iter().filter(|entry| entry["timestamp"].as_str().unwrap() < from).collect();
        assert_eq!(audited.all(&format!("to={from}"), 2).await.iter().collect::<Vec<_>>(), early);
    }

    ///
    async fn only_auditors_admins_and_admin_keys_of_the_project_read_its_audit(kit) {
        let plane = kit.plane_with(Setup { projects: vec![payments("north"), payments("south")], ..Setup::multi() }).await;
        let path = "/projects/north/v1/audit";
        for (project, roles, status) in [
            ("north", vec![Role::Auditor], 200),
            ("north", vec![Role::Admin], 200),
            ("north", vec![Role::User, Role::Approver], 403),
            ("south", vec![Role::User, Role::Admin, Role::Auditor], 403),
        ] {
            let name = format!("person-{project}-{}", roles.len() + usize::from(roles.contains(&Role::Admin)) * 5);
            let person = plane.person_in(project, &name, &roles).await;
            assert_eq!(person.get(&plane, path).await.status, status, "{project} {roles:?}");
        }
        for (project, kind, status) in [
            ("north", ApiKeyKind::Admin, 200),
            ("north", ApiKeyKind::Agent, 403),
            ("south", ApiKeyKind::Admin, 403),
        ] {
            let key = key_in(&plane, project, kind).await;
            let read = by_key(&plane, &key, path).await;
            assert_eq!(read.status, status, "{project} {kind:?}: {}", read.text());
        }
        assert_eq!(plane.get(path).await.status, 401);
        // An auditor of the north sees nothing of the south, whose log shares the same lanes.
        let ines = plane.person_in("north", "ines", &[Role::Auditor]).await;
        let entries = ines.get(&plane, path).await.expect(200).text();
        assert!(!entries.contains("south"), "{entries}");
    }
}

async fn key_in(plane: &Plane, project: &str, kind: ApiKeyKind) -> String {
    let id = ProjectId::parse(project).unwrap();
    let project = plane.engine.find_project(&id).await.unwrap().unwrap();
    let name = format!("owner-{kind:?}-{id}").to_lowercase();
    plane.account(&name).await;
    plane.give_roles(id.as_str(), &name, &[Role::User]).await;
    let new = NewKey {
        kind,
        principal: "a program".into(),
        responsible: name,
        actions: Vec::new(),
        asks: Vec::new(),
        jkt: None,
    };
    plane.engine.people().add_key(&project, &new).await.unwrap().secret
}

on_sqlite! {
    ///
    async fn a_filter_by_person_finds_what_they_decided_and_what_their_agents_did_and_nothing_else(kit) {
        let audited = Audited::on(kit.plane_with(Setup::payments()).await).await;
        let DecisionFixture { plane, .. } = &audited.fixture;
        let own = audited.accepted_and_committed(1).await;
        plane.person("bob").await;
        let bobs: TestAgent = plane.agent_key("bob", &["payments.send"]).await;
        let other = bobs.requests_approval(plane, "payments.send", json!({ "n": 9 })).await;
        let decisions = async |person: &str| -> Vec<Value> {
            let found = audited.all(&format!("person={person}&event_type=decision_raised"), 50).await;
            found.iter().map(|entry| entry["members"]["decision_id"].clone()).collect()
        };
        assert_eq!(decisions("alice").await, [own["decision_id"].clone()]);
        assert_eq!(decisions("bob").await, [other["decision_id"].clone()]);
        assert_eq!(decisions("nobody").await, Vec::<Value>::new());
        let of_key = audited.all(&format!("agent={}&event_type=decision_raised", bobs.principal), 50).await;
        assert_eq!(of_key.len(), 1);
        let by_route = audited.all("route=payments.send&event_type=decision_raised", 50).await;
        assert_eq!(by_route.len(), 2);
    }
}
