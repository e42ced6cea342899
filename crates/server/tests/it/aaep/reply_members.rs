//! Statements in a reply beside its decision: stored, passed on, and never trusted (AAEP 6.3.2).

use super::Waiting;
use countersign_testkit::{Setup, decisions::DecisionFixture, on_sqlite, stored_evidence};
use serde_json::{Value, json};

/// The settlement's evidence: its open part and its separately stored part.
async fn kept(waiting: &Waiting) -> (Value, Value) {
    let entries = stored_evidence(&waiting.plane.place).await;
    let settled = entries.iter().rfind(|entry| entry.event_type == "decision_settled").expect("a settlement");
    let openings = settled.openings.as_deref().expect("what is kept apart");
    (serde_json::from_slice(&settled.leaf).unwrap(), serde_json::from_str(openings).unwrap())
}

on_sqlite! {
    /// AAEP-6.2.4-02, AAEP-6.3.2-01, AAEP-6.3.2-05
    async fn the_decider_is_the_proven_person_and_the_senders_claim_stands_beside(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let waiting = Waiting::after(DecisionFixture::on(plane).await, "payments.send").await;
        let reply = waiting.yes_but(|reply| {
            reply["decided_by"] = json!("user:mallory");
            reply["correlation_id"] = json!("00-trace-01");
        });
        waiting.counts(&reply, "accepted").await;
        let (leaf, kept) = kept(&waiting).await;
        assert_eq!((&leaf["state"], &leaf["assurance"]), (&json!("accepted"), &json!("token")), "{leaf}");
        for (member, value) in
            [("decided_by", "alice"), ("claimed_decided_by", "user:mallory"), ("correlation_id", "00-trace-01")]
        {
            assert_eq!(kept[member]["value"], value, "{kept}");
        }
        assert!(!waiting.document().await.to_string().contains("mallory"));
    }

    /// AAEP-6.3.2-02
    async fn a_reason_of_up_to_4096_characters_reaches_the_agent_and_a_longer_one_is_no_message(kit) {
        let waiting = Waiting::on(kit).await;
        let reason = "ä".repeat(4096);
        let no = |reason: &str| waiting.yes_but(|reply| {
            reply["decision"] = json!("reject");
            reply["decision_rationale"] = json!(reason);
        });
        waiting.is_no_message(&no(&format!("{reason}!"))).await;
        waiting.counts(&no(&reason), "rejected").await;
        assert_eq!(waiting.document().await["reason"], reason);
    }
}
