//! The permissions of each role in a project, and no more.

use countersign_engine::Role;
use countersign_testkit::{Plane, Setup, TestPerson, on_sqlite};
use http::Method;
use serde_json::json;

/// The permissions of a person for alice's delegation.
#[derive(Debug, PartialEq, Eq)]
struct Powers {
    delegate: u16,
    audit: u16,
    revoke: u16,
    read_project: u16,
    change_project: u16,
}

const NONE: Powers = Powers { delegate: 403, audit: 401, revoke: 401, read_project: 403, change_project: 403 };
const ADMIN: Powers = Powers { audit: 200, revoke: 200, read_project: 200, change_project: 200, ..NONE };

async fn powers(plane: &Plane, prefix: &str, alice: &TestPerson, who: &TestPerson) -> Powers {
    let connected = plane.connect_at(prefix, alice, plane.acme(), &["calendar.read"]).await;
    let waiting = plane.connect_request(prefix, plane.acme(), &["calendar.read"]).await;
    let id = &connected.delegation_id;
    let delegate = who.post(plane, &format!("{prefix}/agent/delegate"), &json!({ "request_id": waiting })).await;
    let audit = who.get(plane, &format!("{prefix}/agent/audit?delegation_id={id}")).await;
    let revoke = who.post(plane, &format!("{prefix}/agent/revoke"), &json!({ "delegation_id": id })).await;
    let read_project = who.get(plane, &format!("{prefix}/v1/project")).await;
    let document = plane.engine.projects().await.unwrap();
    let document = document.iter().find(|project| prefix.is_empty() || prefix.ends_with(project.id.as_str())).unwrap();
    let document = serde_json::to_value(&document.document).unwrap();
    let change_project = who.send(plane, Method::PUT, &format!("{prefix}/v1/project"), &document).await;
    for answer in [&audit, &revoke].into_iter().filter(|answer| !answer.is_success()) {
        assert_eq!(answer.code(), "delegation_not_found", "as if there were none");
    }
    for answer in [&delegate, &read_project, &change_project].into_iter().filter(|answer| !answer.is_success()) {
        assert_eq!(answer.code(), "not_authorized");
    }
    let entries = alice.get(plane, &format!("{prefix}/agent/audit?delegation_id={id}")).await.expect(200).json();
    let revoked =
        entries["entries"].as_array().unwrap().iter().find(|entry| entry["event_type"] == "delegation_revoked");
    assert_eq!(revoked.is_some(), revoke.is_success());
    if let Some(entry) = revoked.filter(|_| who.name != alice.name) {
        assert_eq!(entry["by"], "admin");
    }
    Powers {
        delegate: delegate.status,
        audit: audit.status,
        revoke: revoke.status,
        read_project: read_project.status,
        change_project: change_project.status,
    }
}

on_sqlite! {
    ///
    async fn each_role_has_its_own_powers_and_no_others(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let cases: [(&str, &[Role], Powers); 7] = [
            ("nobody", &[], NONE),
            ("user", &[Role::User], Powers { delegate: 200, ..NONE }),
            ("approver", &[Role::Approver], NONE),
            ("auditor", &[Role::Auditor], Powers { audit: 200, ..NONE }),
            ("admin", &[Role::Admin], ADMIN),
            ("all", &[Role::User, Role::Approver, Role::Admin, Role::Auditor], Powers { delegate: 200, ..ADMIN }),
            ("auditing-user", &[Role::User, Role::Auditor], Powers { delegate: 200, audit: 200, ..NONE }),
        ];
        for (name, roles, wanted) in cases {
            let who = plane.person_in("calendar", name, roles).await;
            assert_eq!(powers(&plane, "", &alice, &who).await, wanted, "{name}");
        }
        let own = powers(&plane, "", &alice, &alice).await;
        assert_eq!(own, Powers { delegate: 200, audit: 200, revoke: 200, ..NONE }, "what is one's own");
    }

    ///
    async fn a_role_counts_in_its_project_only(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let alice = plane.person_in("south", "alice", &[Role::User]).await;
        let everything = [Role::User, Role::Approver, Role::Admin, Role::Auditor];
        let northern = plane.person_in("north", "northern", &everything).await;
        assert_eq!(powers(&plane, "/projects/south", &alice, &northern).await, NONE);
    }

    ///
    async fn a_platform_admin_administers_every_project_and_gives_nothing_in_anybodys_name(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        plane.engine.people().add_person("platform", "platform", countersign_testkit::PASSWORD, true).await.unwrap();
        let platform = TestPerson::sign_in(&plane, "platform").await;
        assert_eq!(platform.get(&plane, "/session").await.expect(200).json()["platform_admin"], true);
        for project in ["north", "south"] {
            let alice = plane.person_in(project, &format!("alice-{project}"), &[Role::User]).await;
            assert_eq!(powers(&plane, &format!("/projects/{project}"), &alice, &platform).await, ADMIN);
        }
        let waiting = plane.connect_request("/projects/north", plane.acme(), &["calendar.read"]).await;
        let no = json!({ "request_id": waiting, "approve": false });
        let answer = platform.post(&plane, "/projects/north/agent/delegate", &no).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
    }

    ///
    async fn a_role_that_is_taken_away_is_gone_at_once(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let who = plane.person_in("calendar", "dave", &[Role::User, Role::Admin, Role::Auditor]).await;
        assert_eq!(powers(&plane, "", &alice, &who).await, Powers { delegate: 200, ..ADMIN });
        plane.give_roles("calendar", "dave", &[]).await;
        assert_eq!(powers(&plane, "", &alice, &who).await, NONE);
    }

    ///
    async fn a_document_for_another_project_or_with_mistakes_changes_nothing(kit) {
        let plane = kit.plane().await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let shown = admin.get(&plane, "/v1/project").await.expect(200).json();
        for (name, value) in [("id", json!("another")), ("max_agent_ttl", json!(299)), ("unknown", json!(true))] {
            let mut document = shown["document"].clone();
            document[name] = value;
            let answer = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{name}");
        }
        assert_eq!(admin.get(&plane, "/v1/project").await.expect(200).json(), shown);
    }
}
