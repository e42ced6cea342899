//! The record of every transition, written with it, with as little plaintext as possible.

use countersign_engine::Role;
use countersign_testkit::{
    Plane, Setup, StoredEntry,
    decisions::{DecisionFixture, confirmation},
    on_both_stores, stored_evidence,
};
use serde_json::{Value, json};

/// The entries of one decision: type, open part of the leaf, hidden part that can be opened.
async fn about(plane: &Plane, asked: &Value) -> Vec<(String, Value, String)> {
    let read = |entry: StoredEntry| {
        let leaf: Value = serde_json::from_slice(&entry.leaf).unwrap();
        (entry.event_type, leaf, entry.openings.unwrap_or_default())
    };
    let all = stored_evidence(&plane.place).await.into_iter().map(read);
    all.filter(|(_, leaf, _)| leaf.to_string().contains(asked["decision_id"].as_str().unwrap())).collect()
}

fn types(entries: &[(String, Value, String)]) -> Vec<&str> {
    entries.iter().map(|(event_type, ..)| event_type.as_str()).collect()
}

/// The value of a member, at any depth of the leaf.
fn open<'l>(leaf: &'l Value, name: &str) -> Option<&'l Value> {
    match leaf {
        Value::Object(members) => members.get(name).or_else(|| members.values().find_map(|member| open(member, name))),
        Value::Array(items) => items.iter().find_map(|item| open(item, name)),
        _ => None,
    }
}

on_both_stores! {
    ///
    async fn an_executed_approval_is_recorded_step_by_step_with_its_approver_and_the_proof(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let mut body = confirmation("payments.send", json!({ "amount": 82 }));
        body["correlation_id"] = json!("trace-4711");
        body["action"] = json!("Pay the plumber");
        let asked = agent.requests_confirmation(&plane, &body).await.expect(201).json();
        alice.accepts(&plane, &asked).await;
        agent.claims(&plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
        agent.reports(&plane, &asked, "running").await.expect(200);
        agent.reports(&plane, &asked, "committed").await.expect(200);
        agent.reports(&plane, &asked, "committed").await.expect(200);
        let entries = about(&plane, &asked).await;
        assert_eq!(types(&entries), ["decision_raised", "decision_settled", "execution_claimed", "execution_settled"]);
        let (_, raised, hidden) = &entries[0];
        for (member, value) in [
            ("words", json!("agent")),
            ("irreversible", json!(true)),
            ("default", json!("reject")),
            ("timeout_seconds", json!(300)),
            ("document_version", json!(1)),
            ("principal", json!(agent.principal)),
        ] {
            assert_eq!(open(raised, member), Some(&value), "{raised:#}");
        }
        assert!(hidden.contains("trace-4711") && hidden.contains("Pay the plumber"), "{hidden}");
        let (_, settled, hidden) = &entries[1];
        assert_eq!(open(settled, "state"), Some(&json!("accepted")));
        assert_eq!(open(settled, "assurance"), Some(&json!("fresh")));
        assert!(hidden.contains("alice"), "{hidden}");
        for (event_type, leaf, _) in &entries {
            for personal in ["alice", "plumber", "trace-4711", asked["digest"].as_str().unwrap()] {
                assert!(!leaf.to_string().contains(personal), "{event_type} tells {personal}: {leaf}");
            }
        }
        assert_eq!(open(&entries[3].1, "outcome"), Some(&json!("committed")));
    }

    /// AAEP-6.1-03
    async fn a_default_approval_is_recorded_as_answered_by_nobody(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, agent, .. } = DecisionFixture::on(plane).await;
        let asked = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_secs(60).await;
        plane.advance_secs(300).await;
        let entries = about(&plane, &asked).await;
        assert_eq!(types(&entries), ["decision_raised", "decision_settled", "allowance_lapsed"]);
        let (_, settled, hidden) = &entries[1];
        assert_eq!(open(settled, "state"), Some(&json!("expired")));
        assert_eq!(open(settled, "answered"), Some(&json!(false)));
        assert_eq!(open(settled, "expired_as"), Some(&json!("accept")));
        assert!(!hidden.contains("decided_by"), "{hidden}");
        assert!(!settled.to_string().contains("rejected") && !settled.to_string().contains("accepted"));
    }

    ///
    async fn a_rejection_a_withdrawal_a_lapsed_lease_and_a_revocation_each_have_their_entry(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let asks = async |n: u32| agent.requests_approval(&plane, "payments.send", json!({ "n": n })).await;
        let (no, withdrawn, lapsed) = (asks(1).await, asks(2).await, asks(3).await);
        alice.rejects(&plane, &no, Some("too much")).await;
        agent.withdraws(&plane, &withdrawn, &json!({ "reason": "by hand" })).await.expect(200);
        alice.accepts(&plane, &lapsed).await;
        agent.claims(&plane, &lapsed, &json!({ "digest": lapsed["digest"] })).await.expect(200);
        plane.advance_secs(60).await;
        let cut_off = asks(4).await;
        plane.revoke_key(&agent).await;

        let entries = about(&plane, &no).await;
        assert_eq!(types(&entries), ["decision_raised", "decision_settled"]);
        assert_eq!(open(&entries[1].1, "state"), Some(&json!("rejected")));
        assert!(entries[1].2.contains("too much") && !entries[1].1.to_string().contains("too much"));
        let entries = about(&plane, &withdrawn).await;
        assert_eq!(types(&entries), ["decision_raised", "decision_settled"]);
        assert_eq!(open(&entries[1].1, "cancelled_for"), Some(&json!("withdrawn")));
        assert!(entries[1].2.contains("by hand"));
        let entries = about(&plane, &lapsed).await;
        let wanted = ["decision_raised", "decision_settled", "execution_claimed", "execution_unknown"];
        assert_eq!(types(&entries), wanted);
        let entries = about(&plane, &cut_off).await;
        assert_eq!(types(&entries), ["decision_raised", "decision_settled"]);
        assert_eq!(open(&entries[1].1, "cancelled_for"), Some(&json!("revoked")));
    }

    ///
    async fn a_refused_or_ineffective_operation_leaves_no_entry(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments_with(|d| d.decisions.max_open_per_agent = 1)).await;
        let DecisionFixture { plane, agent, .. } = DecisionFixture::on(plane).await;
        plane.person_in("calendar", "bob", &[Role::User]).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "n": 1 })).await;
        let before = stored_evidence(&plane.place).await.len();
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 1 }))).await.expect(200);
        agent.requests_confirmation(&plane, &confirmation("payments.send", json!({ "n": 2 }))).await.expect(429);
        agent.claims(&plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(409);
        agent.reports(&plane, &asked, "committed").await.expect(409);
        assert_eq!(stored_evidence(&plane.place).await.len(), before);
    }

    /// AAP-7.1-01
    async fn a_persons_audit_of_an_agent_lists_its_questions(kit) {
        let scene = kit.fixture_with(Setup::payments(), &["calendar.read"]).await;
        let agent = scene.agent.as_test_agent();
        let asked = agent.requests_approval(&scene.plane, "payments.send", json!({ "amount": 82 })).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        agent.claims(&scene.plane, &asked, &json!({ "digest": asked["digest"] })).await.expect(200);
        let query = format!("/agent/audit?delegation_id={}", scene.connected.delegation_id);
        let page = scene.alice.get(&scene.plane, &query).await.expect(200).json();
        let entries = page["entries"].as_array().unwrap();
        let listed: Vec<&str> = entries.iter().map(|entry| entry["event_type"].as_str().unwrap()).collect();
        let wanted = ["decision_raised", "decision_settled", "execution_claimed"];
        assert_eq!(listed[listed.len() - 3..], wanted, "{page:#}");
    }
}
