//! `countersign audit check`: what a writer of the database changes is found, by which check.

use countersign_engine::EvidenceCheck;
use countersign_testkit::{AgentFixture, Plane, Setup, decisions::DecisionFixture, on_both_stores, on_sqlite, tamper};
use serde_json::json;

async fn checked(plane: &Plane) -> EvidenceCheck {
    let mut check = plane.engine.evidence().check(true).await.unwrap();
    while !check.is_finished() {
        check = plane.engine.evidence().check(false).await.unwrap();
    }
    check
}

fn faults(check: &EvidenceCheck) -> Vec<&str> {
    check.faults.iter().map(|fault| fault.what.as_str()).collect()
}

/// A small database with something of everything that has evidence.
async fn story(plane: Plane) -> Plane {
    let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
    let registered = plane.register(plane.acme(), &connected).await;
    let scene = AgentFixture { plane, alice, connected, agent: registered };
    scene.read().await.expect(200);
    scene.write().await.expect(201);
    scene.revoke().await.expect(200);
    let AgentFixture { plane, alice, .. } = scene;
    let asks = async |n: u32| agent.requests_approval(&plane, "payments.send", json!({ "n": n })).await;
    let accepted = asks(1).await;
    alice.accepts(&plane, &accepted).await;
    agent.claims(&plane, &accepted, &json!({ "digest": accepted["digest"] })).await.expect(200);
    agent.reports(&plane, &accepted, "committed").await.expect(200);
    let rejected = asks(2).await;
    alice.rejects(&plane, &rejected, Some("too much")).await;
    let withdrawn = asks(3).await;
    agent.withdraws(&plane, &withdrawn, &json!({})).await.expect(200);
    asks(4).await;
    plane.advance_secs(400).await;
    plane.revoke_key(&agent).await;
    plane.engine.run_maintenance().await.unwrap();
    plane
}

/// A change of the database and the words of the check that finds it.
const CHANGES: &[(&str, &str, &str)] = &[
    (
        "a leaf is replaced by another",
        "UPDATE evidence SET leaf = (SELECT o.leaf FROM evidence o WHERE o.pos = 2) WHERE pos = 5",
        "the leaf does not fit its hash",
    ),
    (
        "a leaf and its hash are replaced",
        "UPDATE evidence SET leaf = (SELECT o.leaf FROM evidence o WHERE o.pos = 2), hash = (SELECT o.hash FROM evidence o WHERE o.pos = 2) WHERE pos = 5",
        "the running hash of project ",
    ),
    ("an entry is deleted", "DELETE FROM evidence WHERE pos = 5", "1 entries are missing"),
    (
        "the last entries are cut off",
        "DELETE FROM evidence WHERE pos > (SELECT max(next_pos) - 3 FROM lanes)",
        "2 entries are missing",
    ),
    ("an entry is moved", "UPDATE evidence SET seq = seq + 1 WHERE pos = 5", "its sequence is "),
    (
        "an entry is appended past the end",
        "INSERT INTO evidence (pos, lane, project, seq, at, event_type, delegation, session, leaf, hash) SELECT l.next_pos + 3, e.lane, e.project, e.seq, e.at, e.event_type, e.delegation, e.session, e.leaf, e.hash FROM evidence e JOIN lanes l ON l.lane = e.lane WHERE e.pos = 2",
        "there are entries after the end of the lane",
    ),
    (
        "an entry is given to another project",
        "UPDATE evidence SET project = project + 1 WHERE pos = 5",
        "its sequence is ",
    ),
    ("an entry is dated back", "UPDATE evidence SET at = at - 5 WHERE pos = 5", "the column at does not fit the leaf"),
    (
        "an entry is passed off as another event",
        "UPDATE evidence SET event_type = 'noted' WHERE pos = 5",
        "the column event_type does not fit the leaf",
    ),
    (
        "an entry is listed under another delegation",
        "UPDATE evidence SET delegation = delegation + 1 WHERE delegation IS NOT NULL AND event_type = 'call'",
        "the audit does not list it",
    ),
    (
        "an opening is altered",
        "UPDATE evidence_openings SET openings = replace(openings, 'alice', 'mallory')",
        "does not fit its commitment",
    ),
    (
        "openings are moved to another entry",
        "UPDATE evidence_openings SET openings = (SELECT o.openings FROM evidence_openings o ORDER BY o.pos LIMIT 1) WHERE pos = (SELECT max(pos) FROM evidence_openings)",
        "does not fit its commitment",
    ),
    (
        "an opening is deleted",
        "DELETE FROM evidence_openings WHERE pos = (SELECT max(pos) FROM evidence_openings)",
        "1 openings of project ",
    ),
    (
        "a running hash is changed",
        "UPDATE lane_heads SET chain = (SELECT hash FROM evidence WHERE pos = 2)",
        "the running hash of project ",
    ),
    (
        "a head is set back",
        "UPDATE lane_heads SET next_seq = next_seq - 1",
        " entries here, and the head of the log says ",
    ),
    ("a head is deleted", "DELETE FROM lane_heads", "has entries and no head"),
    (
        "the end of a lane is set back",
        "UPDATE lanes SET next_pos = next_pos - 1",
        "there are entries after the end of the lane",
    ),
    (
        "an entry is hidden from the audit",
        "DELETE FROM audit_index WHERE event_type = 'delegation_revoked'",
        "the audit does not list it",
    ),
    (
        "a rejection becomes an approval",
        "UPDATE decisions SET doc = replace(doc, '\"is\":\"rejected\"', '\"is\":\"accepted\"')",
        "is rejected, and its row says accepted",
    ),
    (
        "an approval gets another person",
        "UPDATE decisions SET doc = replace(doc, '\"subject\":\"alice\"', '\"subject\":\"mallory\"')",
        "names another person than the log",
    ),
    (
        "a failed outcome is made up",
        "UPDATE executions SET doc = replace(doc, '\"is\":\"committed\"', '\"is\":\"never\"')",
        "cannot be read",
    ),
    (
        "a revoked key is revived",
        "UPDATE api_keys SET doc = replace(doc, '\"revoked_at\":', '\"revoked_then\":')",
        "was revoked, and its row says that it was not",
    ),
];

on_both_stores! {
    ///
    async fn an_untouched_log_has_no_fault_and_readiness_and_metrics_tell_the_last_check(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let plane = story(plane).await;
        let check = checked(&plane).await;
        assert_eq!(faults(&check), Vec::<&str>::new());
        assert_eq!((check.checked, check.fault_count), (check.total, 0));
        assert!(check.total > 15, "{}", check.total);
        let (status, lines) = plane.readyz().await;
        assert_eq!(status, 200);
        assert!(lines.contains(&format!("evidence: {} entries checked at ", check.total)), "{lines}");
    }

    ///
    async fn a_check_that_was_interrupted_goes_on_where_it_was(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let plane = story(plane).await;
        // Maintenance checks the same log in steps of its own, and its result is the node's.
        for _ in 0..4 {
            plane.engine.run_maintenance().await.unwrap();
        }
        let last = plane.engine.last_evidence_check().expect("a finished check");
        assert_eq!(last.faults, 0);
        assert_eq!(last.entries, checked(&plane).await.total);
    }
}

on_sqlite! {
    ///
    async fn every_change_of_every_table_of_the_evidence_is_found_and_named(kit) {
        for (change, sql, found) in CHANGES {
            let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
            let plane = story(plane).await;
            assert!(tamper(&plane.place, sql).await > 0, "{change}: nothing was changed");
            let check = checked(&plane).await;
            assert!(faults(&check).iter().any(|fault| fault.contains(found)), "{change}: {:?}", faults(&check));
            let (_, lines) = plane.readyz().await;
            assert!(lines.contains("faults found at "), "{change}: {lines}");
        }
    }
}
