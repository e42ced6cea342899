//! Lifecycle events that were interrupted, and those that an earlier version applied (AAP 8.3).

use super::auto_revoke::{admin_key, agent_under, report};
use countersign_core::{
    records::{Decision, DecisionState, Record},
    step::{Count, Effects},
};
use countersign_engine::store::{self, DecisionById, Outcome};
use countersign_testkit::{
    AgentFixture, Answer, Kit, Plane, Setup, decisions::ALL, faulty_store::WriteFaults, leaks::Folder, on_both_stores,
    stored_evidence,
};
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;

const SCOPES: &[&str] = &["calendar.read"];

/// Every delegation ends with another role of its user, and the store can be made to fail.
async fn failing(kit: Kit) -> (AgentFixture, WriteFaults, Folder) {
    let faults = WriteFaults::default();
    let setup = Setup::payments_with(|document| {
        document.auto_revoke = serde_json::from_value(json!({ "on_events": ["user.role_changed"] })).unwrap();
    });
    let around = faults.clone();
    let setup = Setup { wrap_store: Arc::new(move |store| around.wrap(store)), ..setup };
    let (plane, folder) = kit.lasting_plane(setup).await;
    (AgentFixture::on(plane, SCOPES).await, faults, folder)
}

fn lost() -> Outcome {
    Outcome::Unavailable("a fault of the test".into())
}

async fn row(plane: &Plane, question: &Value) -> Decision {
    let id = question["decision_id"].as_str().unwrap().to_owned();
    let lookup = DecisionById { project: plane.at().await.project.key, id };
    store::find_one(&**plane.engine.store(), lookup).await.unwrap().expect("a decision")
}

/// As if the question had been raised at the moment of the end, on another node.
async fn comes_late(plane: &Plane, pending: Decision) {
    let ended: Decision = store::get(&**plane.engine.store(), pending.key).await.unwrap().expect("a decision");
    assert!(matches!(ended.state, DecisionState::Cancelled { .. }));
    let late = Record::Decision(Decision { version: ended.version + 1, ..pending });
    let effects = Effects { puts: vec![late], ..Effects::default() };
    assert_eq!(plane.engine.store().commit(effects).await, Outcome::Committed);
}

/// The numbers of ended delegations in the entries about lifecycle events.
async fn recorded(plane: &Plane) -> Vec<Value> {
    let entries = stored_evidence(&plane.place).await;
    let of_events = entries.iter().filter(|entry| entry.event_type == "lifecycle_event");
    of_events.map(|entry| serde_json::from_slice::<Value>(&entry.leaf).unwrap()["revoked"].clone()).collect()
}

on_both_stores! {
    /// AAP-8.3-05, R-5, R-23
    async fn an_event_is_applied_only_when_everything_that_it_ended_has_ended_completely(kit) {
        let (scene, faults, _folder) = failing(kit).await;
        let (plane, key) = (&scene.plane, admin_key(&scene.plane).await);
        let program = plane.agent_key("alice", ALL).await;
        let mut pending = Vec::new();
        for agent in [&scene.agent.as_test_agent(), &program] {
            let question = agent.requests_approval(plane, "mail.send", json!({ "to": agent.principal })).await;
            pending.push(row(plane, &question).await);
        }
        let event = json!({ "event": "user.offboarded", "event_id": "hr-1", "user": "alice" });
        faults.fail_entries("lifecycle_event", lost());
        report(plane, &key, &event).await.expect(503);
        for question in &pending {
            comes_late(plane, question.clone()).await;
        }
        faults.fail_entries("decision_settled", lost());
        report(plane, &key, &event).await.expect(503);
        assert_eq!(recorded(plane).await.len(), 0);
        faults.stop();
        let applied = report(plane, &key, &event).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id]));
        for question in pending {
            let left: Decision = store::get(&**plane.engine.store(), question.key).await.unwrap().unwrap();
            assert!(matches!(left.state, DecisionState::Cancelled { .. }), "{:?}", left.state);
        }
        assert_eq!(report(plane, &key, &event).await.expect(200).json()["revoked"], json!([]));
        assert_eq!(recorded(plane).await, [json!(1)]);
    }

    /// AAP-8.3-05
    async fn a_continued_event_tells_of_what_it_ended_before_its_interruption(kit) {
        let (scene, faults, _folder) = failing(kit).await;
        let (plane, key) = (&scene.plane, admin_key(&scene.plane).await);
        let event = json!({ "event": "user.role_changed", "event_id": "hr-1", "user": "alice" });
        faults.fail_entries("lifecycle_event", lost());
        report(plane, &key, &event).await.expect(503);
        assert_eq!(scene.read().await.refusal(), (401, "auto_revoked".into()));
        faults.stop();
        let next = plane.connect(&scene.alice, plane.acme(), SCOPES).await;
        let applied = report(plane, &key, &event).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id, next.delegation_id]));
        assert_eq!(report(plane, &key, &event).await.expect(200).json()["revoked"], json!([]));
        assert_eq!(recorded(plane).await, [json!(2)]);
    }

    /// AAP-8.3-05
    async fn simultaneous_reports_of_one_event_are_both_answered_and_recorded_once(kit) {
        let (scene, _, _folder) = failing(kit).await;
        let (plane, key) = (&scene.plane, admin_key(&scene.plane).await);
        let event = json!({ "event": "user.offboarded", "event_id": "hr-1", "user": "alice" });
        let (one, other) = tokio::join!(report(plane, &key, &event), report(plane, &key, &event));
        let revoked = |answer: Answer| answer.expect(200).json()["revoked"].clone();
        assert!([revoked(one), revoked(other)].contains(&json!([scene.connected.delegation_id])));
        assert_eq!(recorded(plane).await, [json!(1)]);
        let another = json!({ "event": "user.role_changed", "event_id": "hr-1", "user": "alice" });
        assert_eq!(report(plane, &key, &another).await.refusal(), (409, "conflict".into()));
    }

    /// AAP-8.3-05
    async fn an_event_that_an_earlier_version_counted_is_not_applied_again(kit) {
        let scene = agent_under(kit, json!({ "on_events": ["user.role_changed"] })).await;
        let (plane, key) = (&scene.plane, admin_key(&scene.plane).await);
        let project = plane.at().await.project.key;
        let counted = Count {
            name: "lifecycle_event",
            key: format!("{project}/lifecycle-event/hr-1"),
            by: 1,
            limit: 1,
            until: plane.now().plus_secs(30 * 86_400),
        };
        let effects = Effects { counts: vec![counted], ..Effects::default() };
        assert_eq!(plane.engine.store().commit(effects).await, Outcome::Committed);
        let event = |id: &str| json!({ "event": "user.role_changed", "event_id": id, "user": "alice" });
        for _ in 0..2 {
            assert_eq!(report(plane, &key, &event("hr-1")).await.expect(200).json()["revoked"], json!([]));
            plane.call(&scene.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        }
        let applied = report(plane, &key, &event("hr-2")).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id]));
    }
}
