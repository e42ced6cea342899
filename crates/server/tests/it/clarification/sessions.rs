//! One session for one plan of one agent: found again, with new gaps when the plan changes, and ended for good.

use countersign_testkit::{
    clarification::{Clarifying, open},
    on_sqlite,
};
use serde_json::{Value, json};

/// A plan with two gaps that its agent may answer.
fn plan() -> Value {
    json!({ "hosting": {}, "backup": { "copies": null } })
}

fn pairs(gaps: &[(&str, &str)]) -> Vec<(String, String)> {
    gaps.iter().map(|(id, field)| ((*id).to_owned(), (*field).to_owned())).collect()
}

on_sqlite! {
    /// WWA-2-04, WWA-4-06
    async fn the_same_plan_in_a_session_gets_the_same_bytes_until_something_is_answered(kit) {
        let stage = Clarifying::start(kit).await;
        let asked = stage.submits(&plan()).await;
        let first = stage.submits_in(&asked, &plan()).await.expect(200).body;
        stage.plane.advance_secs(59).await;
        assert_eq!(stage.submits_in(&asked, &plan()).await.expect(200).body, first, "minutes later");
        let otherwise = json!({ "backup": { "copies": null }, "hosting": {} });
        let reordered = stage.submits_in(&asked, &otherwise).await.expect(200).body;
        assert_eq!(reordered, first, "the order of members is no change");

        stage.answers(&asked, "gap-001", "eu").await;
        let second = stage.submits_in(&asked, &plan()).await.expect(200);
        assert_ne!(second.body, first);
        assert_eq!(open(&second.json()), pairs(&[("gap-002", "backup.copies")]));
        assert!(second.json()["clarification"]["timestamp"].as_str() > asked["clarification"]["timestamp"].as_str());
        assert_eq!(stage.submits_in(&asked, &plan()).await.body, second.body);
        stage.answers(&asked, "gap-002", "3").await;
        let last = stage.submits_in(&asked, &plan()).await.expect(200);
        assert_eq!((&last.json()["status"], &last.json()["gaps"]), (&json!("ready_to_proceed"), &json!([])));
        assert_eq!(stage.submits_in(&asked, &plan()).await.body, last.body);
    }

    /// WWA-2-04
    async fn a_session_may_be_named_before_it_begins_and_belongs_to_its_first_caller(kit) {
        let stage = Clarifying::start(kit).await;
        let id = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
        let body = json!({ "plan_object": plan(), "session_id": id });
        let begun = stage.post(&stage.agent, "submit-clarification", &body).await.expect(200);
        assert_eq!(begun.json()["session_id"], id);
        let stranger = stage.plane.agent_key("alice", &["mail.send"]).await;
        for plan in [plan(), json!({})] {
            let body = json!({ "plan_object": plan, "session_id": id });
            for below in ["submit-clarification", "scaffold-plan"] {
                assert_eq!(stage.post(&stranger, below, &body).await.refusal(), (404, "not_found".into()));
            }
        }
        assert_eq!(stage.post(&stage.agent, "submit-clarification", &body).await.body, begun.body);
        assert_eq!(stage.audit(&json!(id)).await["submitted_plans"].as_array().unwrap().len(), 1);
    }
}
