//! Erasing a person: scheduled, held, carried out, and nothing of the proofs lost.

use countersign_engine::{ErasureState, Role};
use countersign_testkit::{Plane, Setup, TestPerson, decisions::payments, on_both_stores, stored_evidence, tamper};
use serde_json::{Value, json};

/// Alice in two projects: with an agent of her own, and as the approver of bob's.
async fn story(plane: &Plane) -> (TestPerson, Value) {
    let alice = plane.person_in("calendar", "alice", &[Role::User, Role::Approver]).await;
    let agent = plane.agent_key("alice", &["payments.send"]).await;
    let own = agent.requests_approval(plane, "payments.send", json!({ "to": "a private matter of hers" })).await;
    alice.accepts(plane, &own).await;
    plane.person("bob").await;
    let bobs = plane.agent_key("bob", &["payments.release"]).await;
    let asked = bobs.requests_approval(plane, "payments.release", json!({ "n": 1 })).await;
    alice.accepts(plane, &asked).await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    plane.register(plane.acme(), &connected).await;
    (alice, asked)
}

async fn sound(plane: &Plane) -> bool {
    let mut check = plane.engine.evidence().check(true).await.unwrap();
    while !check.is_finished() {
        check = plane.engine.evidence().check(false).await.unwrap();
    }
    assert_eq!(check.faults, Vec::new());
    check.fault_count == 0
}

/// Every opening of the log that has this text.
async fn openings_with(plane: &Plane, text: &str) -> usize {
    let all = stored_evidence(&plane.place).await;
    all.iter().filter(|entry| entry.openings.as_ref().is_some_and(|openings| openings.contains(text))).count()
}

/// Rows of any table of records that have this text.
async fn rows_with(plane: &Plane, text: &str) -> usize {
    let mut found = 0;
    for table in [
        "people",
        "memberships",
        "delegations",
        "sessions",
        "decisions",
        "allowances",
        "executions",
        "aaep_sessions",
        "plans",
        "subscriber_tokens",
        "web_sessions",
        "erasures",
    ] {
        found += tamper(&plane.place, &format!("UPDATE {table} SET doc = doc WHERE doc LIKE '%{text}%'")).await;
    }
    found
}

on_both_stores! {
    ///
    async fn an_erased_person_is_named_nowhere_and_every_proof_holds(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let people = plane.engine.people();
        let (alice, asked) = story(&plane).await;
        assert!(openings_with(&plane, "\"alice\"").await > 2);
        assert!(rows_with(&plane, "\"alice\"").await > 1);
        let before = stored_evidence(&plane.place).await;
        let done = people.request_erasure("alice", Some("she asked for it, and nothing is owed"), "operator").await.unwrap();
        let ErasureState::Done { openings, .. } = done.state else { panic!("{done:?}") };
        assert!(openings > 2, "{openings}");
        assert_eq!((openings_with(&plane, "\"alice\"").await, rows_with(&plane, "\"alice\"").await), (0, 0));
        assert_eq!(openings_with(&plane, "private matter").await, 0);
        let after = stored_evidence(&plane.place).await;
        assert!(before.iter().zip(&after).all(|(was, is)| (&was.leaf, was.hash, was.seq) == (&is.leaf, is.hash, is.seq)));
        assert!(sound(&plane).await, "the erasure accounts for every opening that is gone");
        let told = after.iter().filter(|entry| entry.event_type == "person_erased").count();
        assert_eq!(told, 1);
        assert_ne!(alice.get(&plane, "/inbox").await.status, 200, "she is signed out");
        // The decision that she made for bob's agent stays, without her name.
        let stored = tamper(&plane.place, &format!("UPDATE decisions SET doc = doc WHERE doc LIKE '%{}%'", asked["decision_id"].as_str().unwrap())).await;
        assert_eq!(stored, 1);
        let again = people.request_erasure("alice", Some("again"), "operator").await;
        assert!(again.is_err(), "nobody has this name any more");
    }

    ///
    async fn an_erasure_waits_for_its_time_and_for_a_legal_hold(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        story(&plane).await;
        let people = plane.engine.people();
        let held = people.hold_records("alice", Some("case 7 of the court")).await.unwrap();
        assert!(held.hold.is_some());
        assert!(people.request_erasure("alice", Some("now"), "operator").await.is_err(), "a hold is stronger than a reason");
        people.hold_records("alice", None).await.unwrap();
        assert!(people.request_erasure("alice", Some("  "), "operator").await.is_err(), "a reason has words");
        let scheduled = people.request_erasure("alice", None, "operator").await.unwrap();
        let ErasureState::Scheduled { due, .. } = scheduled.state else { panic!("{scheduled:?}") };
        assert_eq!(due, plane.now().plus_secs(90 * 86_400));
        plane.engine.run_maintenance().await.unwrap();
        assert!(openings_with(&plane, "\"alice\"").await > 5, "not before its time");
        people.hold_records("alice", Some("another case")).await.unwrap();
        plane.advance_without_settling(91 * 86_400).await;
        plane.engine.run_maintenance().await.unwrap();
        assert!(rows_with(&plane, "\"alice\"").await > 0, "not under a hold");
        people.hold_records("alice", None).await.unwrap();
        plane.engine.run_maintenance().await.unwrap();
        assert_eq!((openings_with(&plane, "\"alice\"").await, rows_with(&plane, "\"alice\"").await), (0, 0));
        assert!(matches!(people.erasures().await.unwrap()[0].state, ErasureState::Done { .. }));
    }

    ///
    async fn a_person_is_erased_in_every_project_and_nobody_else_is(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup { projects: vec![payments("north"), payments("south")], ..Setup::multi() }).await;
        for project in ["north", "south"] {
            for name in ["alice", "bob"] {
                if project == "north" {
                    plane.account(name).await;
                }
                plane.give_roles(project, name, &[Role::User]).await;
            }
        }
        let people = plane.engine.people();
        people.hold_records("bob", Some("names bob in both logs")).await.unwrap();
        people.hold_records("alice", Some("names alice in both logs")).await.unwrap();
        people.hold_records("alice", None).await.unwrap();
        assert_eq!((openings_with(&plane, "\"alice\"").await, openings_with(&plane, "\"bob\"").await), (4, 2));
        people.request_erasure("alice", Some("she asked"), "operator").await.unwrap();
        assert_eq!((openings_with(&plane, "\"alice\"").await, openings_with(&plane, "\"bob\"").await), (0, 2));
        let told = stored_evidence(&plane.place).await.into_iter().filter(|entry| entry.event_type == "person_erased");
        assert_eq!(told.count(), 2, "in each project's log");
        assert!(sound(&plane).await);
    }
}
