//! Samples of decisions: a line each, for the project's overseers, without free text unless the project states consent.

use super::{Stage, archiving, confirm, id, lines};
use countersign_engine::Role;
use countersign_testkit::{Setup, on_both_stores};
use serde_json::{Value, json};

async fn samples(stage: &Stage) -> Vec<Value> {
    lines(&stage.get(&stage.admin_key().await, "learning-samples?limit=200").await.expect(200))
}

fn with_words(yes: bool) -> Setup {
    Setup::payments_with(|document| document.learning.personal_data = yes)
}

on_both_stores! {
    /// MPLP-5-01, MPLP-5-02, MPLP-5-03, MPLP-5-04, MPLP-5-05
    async fn every_decision_is_a_sample_and_one_about_a_plan_is_two(kit) {
        let stage = Stage::with(kit, with_words(true)).await;
        let plans = [(1, "approved", "good", "good", "approval"), (2, "rejected", "bad", "poor", "rejection")];
        for (n, status, resolution, quality, kind) in plans {
            let asked = stage.proposed(&archiving(n, 1)).await;
            let reason = format!("{status} for a reason");
            stage.says(&asked, status, Some(&reason)).await;
            let all = samples(&stage).await;
            let two = &all[all.len() - 2..];
            let of = |family: &str| two.iter().find(|sample| sample["sample_family"] == family).unwrap();
            let (decision, intent) = (of("confirm_decision"), of("intent_resolution"));
            assert_ne!(decision["sample_id"], intent["sample_id"]);
            for sample in two {
                assert_eq!(sample["created_at"], stage.plane.now().to_rfc3339());
                assert_eq!(sample["meta"]["human_feedback_label"], status);
                let feedback = &sample["feedback"];
                assert_eq!((&feedback["source"], &feedback["type"]), (&json!("user"), &json!(kind)));
                assert_eq!((&feedback["quality_label"], &feedback["details"]), (&json!(quality), &json!(reason)));
            }
            assert_eq!((&decision["input"]["confirm_id"], &decision["input"]["target_id"]), (&asked["confirm_id"], &json!(id(n))));
            assert_eq!(decision["output"]["decided_by_role"], "user");
            assert_eq!(intent["input"]["intent_id"], id(n));
            assert_eq!(intent["input"]["raw_request_summary"], "The notes are in order");
            assert_eq!(intent["output"]["final_intent_summary"], "The notes are in order");
            assert_eq!(intent["output"]["resolution_quality_label"], resolution);
        }
        let asked = stage.asked("context", 5).await;
        stage.says(&asked, "approved", None).await;
        let all = samples(&stage).await;
        assert_eq!((all.len(), &all[4]["sample_family"]), (5, &json!("confirm_decision")));

        let asked = stage.asked("context", 6).await;
        stage.says(&asked, "cancelled", None).await;
        let last = samples(&stage).await.pop().unwrap();
        assert_eq!((&last["meta"]["human_feedback_label"], last.get("feedback")), (&json!("not_reviewed"), None));
    }

    ///
    async fn samples_are_for_overseers_and_come_a_part_at_a_time(kit) {
        let stage = Stage::set(kit).await;
        for n in 1..=3 {
            let asked = stage.post(&stage.agent, "confirms", &confirm("trace", n)).await.expect(201).json();
            stage.says(&asked, "approved", None).await;
        }
        for who in [&stage.agent, &stage.device] {
            assert_eq!(stage.get(who, "learning-samples").await.refusal(), (403, "not_authorized".into()));
        }
        let auditor = stage.person("otto", Role::Auditor).await;
        let boss = stage.person("boss", Role::Admin).await;
        let all = samples(&stage).await;
        assert_eq!(all.len(), 3);
        for who in [&auditor, &boss] {
            let (mut found, mut after) = (Vec::new(), String::new());
            for _ in 0..100 {
                let page = stage.get(who, &format!("learning-samples?limit=2&after={after}")).await.expect(200);
                assert_eq!(page.header("content-type"), Some("application/x-ndjson"));
                assert!(page.body.is_empty() || page.body.ends_with(b"\n"));
                found.extend(lines(&page));
                let next = page.header("countersign-next").unwrap().to_owned();
                if next == after {
                    break;
                }
                after = next;
            }
            assert_eq!(found, all);
        }
    }
}
