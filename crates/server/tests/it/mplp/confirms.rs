//! Confirms for every kind of target: each is a question to people, with an id and a time of its own.

use super::{Stage, archiving, confirm, id, items, place, plan, statuses};
use countersign_testkit::{aaep::ReceivedEvents, on_sqlite};
use serde_json::{Value, json};

const OTHERS: [&str; 4] = ["context", "trace", "extension", "other"];

on_sqlite! {
    /// MPLP-2.1-05, MPLP-6-02, MPLP-2.1-02, R-14
    async fn a_confirm_is_pending_under_our_id_and_time_despite_its_own_members(kit) {
        let stage = Stage::set(kit).await;
        for (n, status) in [(1, "approved"), (2, "rejected"), (3, "cancelled"), (4, "pending")] {
            let mut sent = confirm("context", n);
            sent["status"] = json!(status);
            sent["decisions"] = json!([{ "decision_id": id(5), "status": "approved", "decided_by_role": "admin",
                "decided_at": "2025-12-07T00:00:00Z", "reason": "of course" }]);
            sent["events"] = json!([{ "event_id": id(6), "event_type": "confirm.approved", "source": "x",
                "timestamp": "2025-12-07T00:00:00Z" }]);
            let answer = stage.post(&stage.agent, "confirms", &sent).await.expect(201);
            let asked = answer.json();
            assert_eq!(statuses(&asked), ("pending".into(), vec![]), "{status}");
            assert_ne!(asked["confirm_id"], sent["confirm_id"]);
            let now = stage.plane.now().to_rfc3339();
            assert_eq!((&asked["requested_at"], &asked["meta"]["created_at"]), (&json!(now), &json!(now)));
            assert_eq!(asked["meta"]["created_by"], "countersign");
            let told: Vec<&Value> = asked["events"].as_array().unwrap().iter().map(|e| &e["event_type"]).collect();
            assert_eq!(told, ["confirm.requested"]);
            assert_eq!(answer.header("location"), Some(format!("/mplp/v1/{}", place(&asked)).as_str()));
            assert_eq!(stage.confirm(&asked).await, asked);
            let theirs = stage.get(&stage.agent, &place(&sent)).await;
            assert_eq!(theirs.refusal(), (404, "not_found".into()), "the id that was sent names nothing");
        }
    }

    /// MPLP-2.3-02, MPLP-2.3-04, MPLP-2.3-05, MPLP-4.3-06, MPLP-4.3-07
    async fn other_targets_follow_their_own_decision_and_no_plan_is_touched(kit) {
        let stage = Stage::set(kit).await;
        stage.proposed(&plan(50, 1)).await;
        for (n, target) in OTHERS.into_iter().enumerate() {
            let n = 10 * (n as u64 + 1);
            for (n, status) in [(n, "approved"), (n + 1, "rejected"), (n + 2, "cancelled")] {
                let asked = stage.asked(target, n).await;
                assert_eq!((&asked["target_type"], &asked["target_id"]), (&json!(target), &json!(id(n))));
                let before = stage.told(&stage.agent).await.len();
                let decided = stage.says(&asked, status, None).await;
                assert_eq!(statuses(&decided), (status.into(), vec![status.into()]));
                let told = stage.told(&stage.agent).await.split_off(before);
                let types: Vec<&Value> = told.iter().map(|event| &event["event_type"]).collect();
                assert_eq!(types, ["decision_added", "confirm_resolved"], "{target} {status}");
                let payload = &told[1]["payload"];
                assert_eq!((&payload["status"], payload.get("plan_id")), (&json!(status), None));
                assert_eq!((&payload["confirm_id"], &told[1]["pipeline_id"]), (&asked["confirm_id"], &asked["confirm_id"]));
            }
        }
        assert_eq!(stage.plan(50).await["status"], "proposed");
    }

    /// MPLP-2.3-02, MPLP-2.3-05, MPLP-1-02
    async fn an_action_can_be_claimed_once_after_its_approval_and_not_before(kit) {
        let stage = Stage::set(kit).await;
        let mut sent = json!({ "confirm": confirm("extension", 1), "target": { "name": "spell checker", "version": 2 } });
        let answer = stage.post(&stage.agent, "confirms", &sent).await.expect(201);
        let decision = json!({ "decision_id": answer.header("countersign-decision").unwrap() });
        let looked = stage.agent.reads_decision(&stage.plane, &decision).await.json();
        let claim = json!({ "digest": looked["digest"] });
        let early = stage.agent.claims(&stage.plane, &decision, &claim).await;
        assert!(!early.is_success(), "{}", early.text());
        stage.says(&answer.json(), "approved", None).await;
        stage.agent.claims(&stage.plane, &decision, &claim).await.expect(200);
        assert!(!stage.agent.claims(&stage.plane, &decision, &claim).await.is_success(), "once");

        sent["target"]["version"] = json!(3);
        let other = stage.post(&stage.agent, "confirms", &sent).await.expect(201).json();
        assert_ne!(other["confirm_id"], answer.json()["confirm_id"], "another version is another question");
    }

    /// MPLP-4.2-01
    async fn the_same_approval_is_asked_for_once(kit) {
        let stage = Stage::set(kit).await;
        let first = stage.asked("context", 1).await;
        let again = stage.post(&stage.agent, "confirms", &confirm("context", 1)).await.expect(200);
        assert_eq!((again.json(), again.header("location")), (first.clone(), None));
        stage.says(&first, "rejected", None).await;
        assert_ne!(stage.asked("context", 1).await["confirm_id"], first["confirm_id"]);
    }

    /// MPLP-4.2-01, MPLP-2.3-03
    async fn a_confirm_for_a_plan_proposes_that_plan(kit) {
        let stage = Stage::set(kit).await;
        let unknown = stage.post(&stage.agent, "confirms", &confirm("plan", 1)).await;
        assert_eq!(unknown.refusal(), (404, "not_found".into()));
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let mut sent = confirm("plan", 1);
        sent["trace"] = json!({ "trace_id": id(2), "span_id": id(3) });
        let asked = stage.post(&stage.agent, "confirms", &sent).await.expect(201).json();
        assert_eq!((&asked["target_id"], &asked["reason"]), (&json!(id(1)), &json!("It is time")));
        assert_eq!(asked["trace"]["trace_id"], id(2));
        assert_eq!(stage.plan(1).await["status"], "proposed");
    }

    /// MPLP-2.3-06, MPLP-2.3-01
    async fn every_confirmation_is_a_confirm_for_any_asker(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.agent.requests_approval(&stage.plane, "mail.send", json!({ "to": "bob" })).await;
        let question = stage.agent.requests_clarification(&stage.plane, &json!({ "question": "Which bob?" })).await.expect(201).json();
        let shown = items(&stage.get(&stage.agent, "confirms").await);
        assert_eq!(shown.len(), 1, "a question that takes a text approves nothing");
        let own = &shown[0];
        assert_eq!((&own["target_type"], &own["target_id"]), (&json!("other"), &own["confirm_id"]));
        let digits = asked["decision_id"].as_str().unwrap().strip_prefix("dec_").unwrap().to_owned();
        assert_eq!(own["confirm_id"].as_str().unwrap().replace('-', ""), digits);
        stage.alice.accepts(&stage.plane, &asked).await;
        assert_eq!(stage.confirm(own).await["status"], "approved", "from whatever door the answer came");

        let digits = question["decision_id"].as_str().unwrap().strip_prefix("dec_").unwrap().to_owned();
        let cut: Vec<&str> = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map(|(a, b)| &digits[a..b]).to_vec();
        let answer = stage.get(&stage.agent, &format!("confirms/{}", cut.join("-"))).await;
        assert_eq!(answer.refusal(), (404, "not_found".into()));
    }

    /// MPLP-4.2-04, R-2, R-29
    async fn an_approver_gets_the_plan_on_their_subscription_and_their_reply_decides_it(kit) {
        let stage = Stage::set(kit).await;
        let (subscriber, mut heard): (_, ReceivedEvents) = stage.alice.subscribed(&stage.plane).await;
        let asked = stage.proposed(&archiving(1, 2)).await;
        let event = heard.next_of("awaiting.confirmation").await;
        let text = event.to_string();
        for said in ["Tidy the notes 1", "notes.archive", asked["target_id"].as_str().unwrap()] {
            assert!(text.contains(said), "{said} is not in {event:#}");
        }
        // The extension uses MPLP's names.
        for said in ["approval_required", asked["confirm_id"].as_str().unwrap()] {
            assert!(text.contains(&format!("\"{said}\"")), "{said} is not in {event:#}");
        }
        let action = event["action"].as_str().unwrap();
        assert!(action.contains("Step 1: Runs notes.archive (up to 2 times) with "), "{action}");
        let tool = &event["extensions"]["dev_countersign"]["runs"]["details"][0];
        assert_eq!((&tool["place"], &tool["step"]), (&json!("tool"), &json!(1)));
        subscriber.accepts(&stage.plane, &event).await.expect(204);
        let decided = stage.confirm(&asked).await;
        assert_eq!(statuses(&decided), ("approved".into(), vec!["approved".into()]));
        assert_eq!(stage.plan(1).await["status"], "approved");
    }
}
