//! Deciding: once, by a person, for good. A later decider is told the result.

use super::{Stage, confirm, items, place, plan, statuses, with_targets};
use countersign_engine::Role;
use countersign_testkit::{Setup, TestAgent, on_sqlite, stored_evidence};
use serde_json::{Value, json};

fn body(status: &str) -> Value {
    json!({ "status": status })
}

on_sqlite! {
    /// MPLP-3.1-03, MPLP-3.2-02, MPLP-3.2-03, MPLP-3.2-04, MPLP-4.3-01, MPLP-4.3-02, M-26
    async fn a_decision_is_final_and_a_later_one_gets_409_and_the_first(kit) {
        let stage = Stage::set(kit).await;
        for (n, first) in [(1, "approved"), (2, "rejected"), (3, "cancelled")] {
            let asked = stage.asked("context", n).await;
            let decided = stage.says(&asked, first, Some("because")).await;
            assert_eq!(statuses(&decided), (first.into(), vec![first.into()]));
            for second in ["approved", "rejected", "cancelled"] {
                for who in [&stage.device, &stage.agent] {
                    let late = stage.decides(who, &asked, &body(second)).await;
                    if who.token == stage.agent.token && second != "cancelled" {
                        assert_eq!(late.refusal(), (403, "not_authorized".into()));
                        continue;
                    }
                    assert_eq!(late.refusal(), (409, "conflict".into()), "{first}, then {second}");
                    let truth = &late.json()["decision"];
                    assert_eq!((&truth["status"], &truth["confirm_id"]), (&json!(first), &asked["confirm_id"]));
                    assert_eq!((&truth["reason"], &truth["decided_by_role"]), (&json!("because"), &json!("user")));
                }
            }
            assert_eq!(stage.confirm(&asked).await, decided);
        }
    }

    /// MPLP-2.4-04, MPLP-2.4-05, MPLP-2.4-01, M-24
    async fn a_decision_is_recorded_with_one_moment_and_a_rejection_always_has_a_reason(kit) {
        let stage = Stage::set(kit).await;
        for (target, status, said, kept) in [
            ("trace", "approved", None, None),
            ("context", "approved", Some("fine"), Some("fine")),
            ("trace", "rejected", Some("too early"), Some("too early")),
            ("context", "rejected", None, Some("rejected without a reason")),
            ("extension", "rejected", Some("  "), Some("rejected without a reason")),
            ("other", "cancelled", Some("not needed"), Some("not needed")),
        ] {
            let asked = stage.asked(target, 1).await;
            stage.plane.advance_secs(7).await;
            let decided = stage.says(&asked, status, said).await;
            let now = json!(stage.plane.now().to_rfc3339());
            let record = &decided["decisions"][0];
            assert_eq!(record.get("reason").and_then(Value::as_str), kept, "{status} {said:?}");
            let last = decided["events"].as_array().unwrap().last().unwrap();
            assert_eq!(last["event_type"], format!("confirm.{status}"));
            let told = stage.told(&stage.agent).await.pop().unwrap();
            for moment in [&record["decided_at"], &last["timestamp"], &decided["meta"]["updated_at"], &told["timestamp"]] {
                assert_eq!(*moment, now, "{status}");
            }
            assert_eq!((&last["data"]["decision_id"], &told["payload"]["decision_id"]),
                (&record["decision_id"], &record["decision_id"]));
            assert_ne!(record["decision_id"], decided["confirm_id"]);
        }
    }

    /// MPLP-1-01, R-10
    async fn an_agent_withdraws_its_question_and_decides_nothing(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 1)).await;
        for status in ["approved", "rejected"] {
            let answer = stage.decides(&stage.agent, &asked, &body(status)).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        }
        assert_eq!(stage.confirm(&asked).await, asked);
        let said = json!({ "status": "cancelled", "reason": "I was wrong" });
        let cancelled = stage.decides(&stage.agent, &asked, &said).await.expect(201).json();
        let record = &cancelled["decisions"][0];
        assert_eq!((&record["decided_by_role"], &record["reason"]), (&json!("agent"), &json!("I was wrong")));
    }

    /// R-4
    async fn a_decision_that_needs_a_surer_proof_than_a_token_names_the_page(kit) {
        let stage = Stage::set(kit).await;
        let bob = stage.person("bob", Role::Approver).await;
        let asked = stage.agent.requests_approval(&stage.plane, "payments.release", json!({ "amount": 5 })).await;
        let shown = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        let answer = stage.decides(&bob, &shown, &body("approved")).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        let said = answer.json()["error_description"].as_str().unwrap().to_owned();
        let page = format!("https://api.example.test/inbox/calendar/{}", asked["decision_id"].as_str().unwrap());
        assert!(said.contains("fresh") && said.contains(&page), "{said}");
        assert_eq!(stage.confirm(&shown).await["status"], "pending");
    }

    /// MPLP-2.4-03, R-9, R-14
    async fn the_evidence_names_the_person_and_the_role_and_the_confirm_only_the_role(kit) {
        let (plane, _folder) = kit.lasting_plane(with_targets(Setup::payments())).await;
        let stage = Stage::on(kit, plane).await;
        let asked = stage.asked("context", 1).await;
        let decided = stage.says(&asked, "approved", None).await;
        assert_eq!(decided["decisions"][0]["decided_by_role"], "user");
        assert!(!decided.to_string().contains("alice"), "{decided}");
        let stored = stored_evidence(&stage.plane.place).await;
        let entry = stored.iter().find(|entry| entry.event_type == "decision_settled").unwrap();
        let leaf: Value = serde_json::from_slice(&entry.leaf).unwrap();
        assert!(leaf.to_string().contains(r#""role":"user""#), "{leaf}");
        assert!(!leaf.to_string().contains("alice"), "who it was can be erased (R-25): {leaf}");
        assert!(entry.openings.as_ref().unwrap().contains("alice"));
    }

    /// R-1
    async fn a_token_that_only_reads_decides_nothing(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.asked("context", 1).await;
        let new = json!({ "name": "wall display", "may_answer": false });
        let reads = stage.alice.subscriber_like(&stage.plane, new).await;
        let reads = TestAgent { token: reads.token, principal: String::new() };
        assert_eq!(stage.get(&reads, &place(&asked)).await.expect(200).json(), asked);
        let answer = stage.decides(&reads, &asked, &body("approved")).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        assert_eq!(stage.confirm(&asked).await, asked);
    }

    /// R-7
    async fn bounds_beyond_the_policy_are_refused_and_the_question_stays_open(kit) {
        let stage = Stage::with(kit, Setup::payments_with(|document| document.plans.max_uses = 5)).await;
        stage.agent.requests_approval(&stage.plane, "notes.archive", json!({ "note": "a" })).await;
        let shown = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        for bounds in [json!({ "uses": 6 }), json!({ "uses": 2, "seconds": 86_401 }),
            json!({ "uses": 2, "released": { "other": { "text": 5 } } })] {
            let said = json!({ "status": "approved", "bounds": bounds });
            let answer = stage.decides(&stage.device, &shown, &said).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{bounds}");
        }
        assert_eq!(stage.confirm(&shown).await["status"], "pending");
        let said = json!({ "status": "approved", "bounds": { "uses": 5, "seconds": 600 } });
        stage.decides(&stage.device, &shown, &said).await.expect(201);
    }

    /// MPLP-2.2-02
    async fn a_confirm_that_is_nobodys_is_decided_by_nobody(kit) {
        let stage = Stage::set(kit).await;
        let answer = stage.decides(&stage.device, &confirm("context", 1), &body("approved")).await;
        assert_eq!(answer.refusal(), (404, "not_found".into()));
    }
}
