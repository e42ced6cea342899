//! From the first day of a user to the last.

use super::{IDP, TestProvider, user};
use countersign_protocol::aap::policy::{LifecycleEvent, PolicyLayer};
use countersign_testkit::{Answer, Plane, Registered, TestPerson, on_both_stores};
use http::Method;
use serde_json::json;

/// Gives a provisioned account a password, and signs in with it.
async fn signs_in(plane: &Plane, name: &str) -> TestPerson {
    plane.engine.people().set_password(name, countersign_testkit::PASSWORD).await.unwrap();
    TestPerson::sign_in(plane, name).await
}

async fn connects(plane: &Plane, person: &TestPerson) -> Registered {
    let connected = plane.connect(person, plane.acme(), &["calendar.read"]).await;
    plane.register(plane.acme(), &connected).await
}

async fn reads(plane: &Plane, agent: &Registered) -> Answer {
    plane.call(agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
}

fn assert_offboarded(answer: &Answer) {
    assert_eq!(answer.refusal(), (401, "auto_revoked".into()));
    assert_eq!(answer.header("x-agent-revoke-reason"), Some("event_triggered"));
}

on_both_stores! {
    /// AAP-8.3-08, AAP-8.3-09, R-12, R-23
    async fn the_agents_of_a_deactivated_user_stop_at_once_and_do_not_come_back(kit) {
        let (plane, provider) = TestProvider::on(kit, "local").await;
        let id = provider.creates(&plane, "ada").await;
        let ada = signs_in(&plane, "ada").await;
        let agent = connects(&plane, &ada).await;
        reads(&plane, &agent).await.expect(200);

        let off = json!([{ "op": "replace", "value": { "active": false } }]);
        let answer = provider.patch(&plane, &id, off).await.expect(200).json();
        assert_eq!(answer["active"], false);
        assert_offboarded(&reads(&plane, &agent).await);
        // The person is signed out, and has no rights here any more.
        let request = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
        ada.post(&plane, "/agent/delegate", &json!({ "request_id": request })).await.expect(401);
        let ada = TestPerson::sign_in(&plane, "ada").await;
        ada.post(&plane, "/agent/delegate", &json!({ "request_id": request })).await.expect(403);

        let on = json!([{ "op": "replace", "value": { "active": true } }]);
        let answer = provider.patch(&plane, &id, on).await.expect(200).json();
        assert_eq!((&answer["active"], &answer["roles"]), (&json!(true), &json!([{ "value": "user" }])));
        assert_offboarded(&reads(&plane, &agent).await);
        let again = connects(&plane, &ada).await;
        reads(&plane, &again).await.expect(200);

        provider.delete(&plane, &id).await.expect(204);
        assert_offboarded(&reads(&plane, &again).await);
        provider.get(&plane, &format!("/Users/{id}")).await.expect(404);
        let list = provider.get(&plane, "/Users").await.expect(200).json();
        assert_eq!(list["totalResults"], 0);
        // The same person can be provisioned again, as another user.
        assert_ne!(provider.creates(&plane, "ada").await, id);
        assert_offboarded(&reads(&plane, &again).await);
    }

    /// AAP-8.3-05
    async fn another_set_of_roles_ends_the_delegations_with_a_policy_for_it(kit) {
        let (plane, provider) = TestProvider::on(kit, "local").await;
        let mut document = (*plane.at().await.project.document).clone();
        document.auto_revoke = PolicyLayer { on_events: [LifecycleEvent::UserRoleChanged].into(), ..PolicyLayer::default() };
        plane.engine.apply_project(document, "test").await.unwrap();
        let id = provider.creates(&plane, "ada").await;
        let ada = signs_in(&plane, "ada").await;
        let agent = connects(&plane, &ada).await;

        let same = json!([{ "op": "replace", "path": "roles", "value": [{ "value": "user" }] },
                          { "op": "replace", "path": "displayName", "value": "Ada" }]);
        provider.patch(&plane, &id, same).await.expect(200);
        reads(&plane, &agent).await.expect(200);

        let more = json!([{ "op": "Add", "path": "roles[primary eq \"True\"].value", "value": "approver" }]);
        let answer = provider.patch(&plane, &id, more).await.expect(200).json();
        assert_eq!(answer["roles"], json!([{ "value": "user" }, { "value": "approver" }]));
        assert_offboarded(&reads(&plane, &agent).await);

        // The role chosen next replaces it.
        let other = json!([{ "op": "Replace", "path": "roles[primary eq \"True\"].value", "value": "auditor" }]);
        let answer = provider.patch(&plane, &id, other).await.expect(200).json();
        assert_eq!(answer["roles"], json!([{ "value": "user" }, { "value": "auditor" }]));
    }

    ///
    async fn a_user_is_the_issuers_subject_and_no_local_account_of_that_name(kit) {
        let (plane, provider) = TestProvider::on(kit, IDP).await;
        let alice = plane.person("alice").await;
        let agent = connects(&plane, &alice).await;
        let mut named = user("alice");
        named["userName"] = json!("alice");
        let id = provider.post(&plane, &named).await.expect(201).json()["id"].as_str().unwrap().to_owned();
        provider.delete(&plane, &id).await.expect(204);
        reads(&plane, &agent).await.expect(200);
    }
}
