//! One session for one plan of one agent: found again, with new gaps when the plan changes, and ended for good.

use super::world::session;
use countersign_testkit::{
    clarification::{Clarifying, answering, id_of, open},
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
        let stage = Clarifying::set(kit).await;
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

    /// WWA-2-04, WWA-4-08, WWA-4-15
    async fn a_changed_plan_has_gaps_under_new_numbers_and_keeps_answers_that_still_apply(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&plan()).await;
        assert_eq!(open(&asked), pairs(&[("gap-001", "hosting.region"), ("gap-002", "backup.copies")]));
        stage.answers(&asked, "gap-001", "eu").await;

        let mut changed = plan();
        changed["title"] = json!("somewhere else");
        let again = stage.submits_in(&asked, &changed).await.expect(200).json();
        assert_eq!(open(&again), pairs(&[("gap-003", "backup.copies")]), "the region is answered, the copies are not");
        assert_eq!(again["clarification"]["accepted_gaps"], 1);
        let old = stage.tries_to_answer(&asked, "gap-002", "3").await;
        assert_eq!(old.refusal(), (409, "conflict".into()), "a number that is not asked any more");

        let audit = stage.audit(&asked).await;
        let chain = audit["record"]["chain"].as_array().unwrap();
        assert_eq!(chain.len(), 2);
        assert_eq!((&chain[1]["event"], &audit["record"]["total_rounds"]), (&json!("plan_changed"), &json!(1)));
        assert_eq!(audit["submitted_plans"].as_array().unwrap().len(), 2);

        let other = json!({ "hosting": { "zone": 7 } });
        let third = stage.submits_in(&asked, &other).await.expect(200).json();
        assert_eq!(open(&third), [], "the same question about the same place stays answered");
        let back = stage.submits_in(&asked, &json!({ "backup": {} })).await.expect(200).json();
        assert_eq!(open(&back), pairs(&[("gap-004", "backup.copies")]), "no number comes twice");
    }

    /// WWA-2-04, WWA-4-03
    async fn a_caller_without_a_session_name_gets_its_session_for_the_same_plan_again(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&plan()).await;
        assert_eq!(stage.submits(&plan()).await, asked);
        let other = stage.submits(&json!({ "hosting": {} })).await;
        assert_ne!(id_of(&other), id_of(&asked));

        let stranger = stage.plane.agent_key("alice", &["mail.send"]).await;
        let body = json!({ "plan_object": plan() });
        let theirs = stage.post(&stranger, "submit-clarification", &body).await.expect(200).json();
        assert_ne!(id_of(&theirs), id_of(&asked));

        stage.answers(&asked, "gap-001", "eu").await;
        let found = stage.submits(&plan()).await;
        assert_eq!((id_of(&found), open(&found).len()), (id_of(&asked), 1), "answered in between, still the same");
        stage.answers(&asked, "gap-002", "3").await;
        stage.confirms(&asked).await;
        let fresh = stage.submits(&plan()).await;
        assert_ne!(id_of(&fresh), id_of(&asked), "what is confirmed is over");
        assert_eq!(open(&fresh).len(), 2);
    }

    /// WWA-2-04
    async fn a_session_may_be_named_before_it_begins_and_belongs_to_its_first_caller(kit) {
        let stage = Clarifying::set(kit).await;
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

    /// WWA-2-04, WWA-1-03
    async fn a_session_whose_time_is_over_is_read_and_nothing_else(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&plan()).await;
        stage.answers(&asked, "gap-001", "eu").await;
        let before = stage.audit(&asked).await;
        stage.plane.advance_secs(86_400).await;
        assert_eq!(stage.status(&asked).await["state"], "expired");
        let refused = [
            stage.submits_in(&asked, &plan()).await,
            stage.submits_in(&asked, &json!({ "hosting": {} })).await,
            stage.tries_to_answer(&asked, "gap-002", "3").await,
            stage.tries_to_answer(&asked, "gap-001", "eu").await,
            stage.post(&stage.agent, "confirm-plan", &session(&asked)).await,
        ];
        for answer in refused {
            assert_eq!(answer.refusal(), (409, "conflict".into()));
        }
        assert_eq!(stage.audit(&asked).await, before);
        assert_ne!(id_of(&stage.submits(&plan()).await), id_of(&asked));
    }

    /// WWA-6.2-03, WWA-7-01
    async fn a_confirmed_session_takes_no_other_plan_and_no_answer(kit) {
        let stage = Clarifying::set(kit).await;
        let asked = stage.submits(&json!({ "hosting": {} })).await;
        stage.answers(&asked, "gap-001", "eu").await;
        let accepted = stage.confirms(&asked).await;
        let before = stage.audit(&asked).await;
        for answer in ["eu", "us"] {
            assert_eq!(stage.tries_to_answer(&asked, "gap-001", answer).await.refusal(), (409, "conflict".into()));
        }
        assert_eq!(stage.submits_in(&asked, &plan()).await.refusal(), (409, "conflict".into()));
        assert_eq!(stage.confirms(&asked).await, accepted, "confirming again confirms nothing new");
        assert_eq!(stage.names(&asked, "attest").await["attestation"], accepted["attestation"]);
        assert_eq!(stage.audit(&asked).await, before);
        assert_eq!(stage.status(&asked).await["state"], "confirmed");
    }

    /// WWA-4-23
    async fn more_gaps_than_a_message_holds_are_refused_and_just_as_many_are_asked(kit) {
        let stage = Clarifying::set(kit).await;
        let components = |many: usize| json!({ "components": vec![json!({ "name": "a" }); many] });
        let body = json!({ "plan_object": components(65) });
        let answer = stage.post(&stage.agent, "submit-clarification", &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        assert!(answer.text().contains("64"), "{}", answer.text());
        let asked = stage.submits(&components(64)).await;
        assert_eq!(open(&asked).last().unwrap().0, "gap-064");
        let long = "x".repeat(16_385);
        let answer = stage.post(&stage.agent, "resolve-gap", &answering(&asked, "gap-001", &long)).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        assert_eq!(stage.answers(&asked, "gap-001", &long[1..]).await["status"], "resolved");
    }
}
