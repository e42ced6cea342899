//! A plan's way from draft to approved and back, without trust in its agent's statements.

use super::{Stage, archiving, id, items, place, plan, statuses, step};
use countersign_testkit::on_both_stores;
use serde_json::{Value, json};

/// The statuses of the steps, in order.
fn steps(plan: &Value) -> Vec<&str> {
    plan["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect()
}

on_both_stores! {
    /// MPLP-2.1-05, R-14
    async fn a_plan_is_a_draft_despite_its_own_status(kit) {
        let stage = Stage::set(kit).await;
        let mut sent = plan(1, 2);
        sent["status"] = json!("approved");
        sent["steps"][0]["status"] = json!("completed");
        sent["steps"][1]["status"] = json!("in_progress");
        sent["meta"]["created_by"] = json!("the boss");
        sent["meta"]["created_at"] = json!("2020-01-01T00:00:00Z");
        sent["events"] = json!([{ "event_id": id(3), "event_type": "plan.approved", "source": "countersign",
            "timestamp": "2020-01-01T00:00:00Z", "data": { "confirm_id": id(4) } }]);
        let answer = stage.post(&stage.agent, "plans", &sent).await.expect(201);
        assert_eq!(answer.header("location"), Some(format!("/mplp/v1/plans/{}", id(1)).as_str()));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let written = answer.json();
        assert_eq!((&written["status"], steps(&written)), (&json!("draft"), vec!["pending", "pending"]));
        assert_eq!(written["meta"]["created_by"], stage.agent.principal);
        assert_eq!(written["meta"]["created_at"], stage.plane.now().to_rfc3339());
        let told: Vec<&str> =
            written["events"].as_array().unwrap().iter().map(|e| e["event_type"].as_str().unwrap()).collect();
        assert_eq!(told, ["plan.created"]);
        assert_eq!(stage.plan(1).await, written);
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0, "a draft asks nobody");
    }

    ///
    async fn a_draft_is_written_anew_and_nothing_else_is(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let mut changed = plan(1, 2);
        changed["title"] = json!("Tidy everything");
        let below = format!("plans/{}", id(1));
        let answer = stage.put(&stage.agent, &below, &changed).await.expect(200);
        assert_eq!(answer.header("location"), None);
        assert_eq!((&answer.json()["title"], steps(&answer.json()).len()), (&json!("Tidy everything"), 2));
        assert_eq!(stage.post(&stage.agent, "plans", &plan(1, 2)).await.expect(200).json()["title"], "Tidy the notes 1");

        let elsewhere = stage.put(&stage.agent, &format!("plans/{}", id(2)), &changed).await;
        assert_eq!(elsewhere.refusal(), (400, "invalid_request".into()));
        assert_eq!(stage.put(&stage.agent, &format!("plans/{}", id(3)), &plan(3, 1)).await.expect(201).json()["plan_id"], id(3));

        let asked = stage.proposed(&plan(1, 2)).await;
        assert_eq!(stage.put(&stage.agent, &below, &changed).await.refusal(), (409, "conflict".into()));
        stage.says(&asked, "approved", None).await;
        assert_eq!(stage.put(&stage.agent, &below, &changed).await.refusal(), (409, "conflict".into()));
        assert_eq!(stage.plan(1).await["title"], "Tidy the notes 1");
    }

    /// MPLP-4.2-01, MPLP-4.2-02, MPLP-4.2-03, MPLP-6-02, MPLP-4.3-11
    async fn proposing_a_plan_asks_once_and_the_question_is_its_confirm(kit) {
        let stage = Stage::set(kit).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        assert_eq!(stage.get(&stage.agent, "confirms").await.json()["items"], json!([]));
        let below = format!("plans/{}/propose", id(1));
        let answer = stage.post(&stage.agent, &below, &json!({})).await.expect(201);
        let asked = answer.json();
        assert_eq!(answer.header("location"), Some(format!("/mplp/v1/{}", place(&asked)).as_str()));
        assert_eq!(answer.header("countersign-confirm"), asked["confirm_id"].as_str());
        let decision = answer.header("countersign-decision").unwrap();
        assert_eq!(decision, format!("dec_{}", asked["confirm_id"].as_str().unwrap().replace('-', "")));
        let looked = stage.agent.reads_decision(&stage.plane, &json!({ "decision_id": decision })).await.expect(200).json();
        assert_eq!(looked["state"], "pending");

        let now = stage.plane.now().to_rfc3339();
        assert_eq!((&asked["target_type"], &asked["target_id"]), (&json!("plan"), &json!(id(1))));
        assert_eq!(statuses(&asked), ("pending".into(), vec![]));
        assert_eq!((&asked["requested_at"], &asked["meta"]["created_at"]), (&json!(now), &json!(now)));
        assert_eq!(asked["requested_by_role"], "agent");
        assert!(asked["reason"].as_str().unwrap().contains("Tidy the notes 1"), "{asked}");
        let proposed = stage.plan(1).await;
        assert_eq!(proposed["status"], "proposed");
        let last = proposed["events"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["event_type"], &last["data"]["confirm_id"]), (&json!("plan.proposed"), &asked["confirm_id"]));
        assert_eq!(proposed.get("governance"), None);

        let again = stage.post(&stage.agent, &below, &json!({})).await.expect(200);
        assert_eq!(again.json(), asked, "nobody is asked twice");
        assert_eq!(items(&stage.get(&stage.agent, "confirms").await), [asked]);
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 1);
    }

    /// MPLP-4.2-01, MPLP-4.2-03
    async fn a_plan_can_be_written_and_proposed_in_one_request(kit) {
        let stage = Stage::set(kit).await;
        let answer = stage.post(&stage.agent, "plans?propose=true", &plan(1, 1)).await.expect(201);
        assert_eq!(answer.json()["status"], "proposed");
        assert_eq!(answer.header("location"), Some(format!("/mplp/v1/plans/{}", id(1)).as_str()));
        let confirm = answer.header("countersign-confirm").unwrap();
        let asked = stage.get(&stage.agent, &format!("confirms/{confirm}")).await.expect(200).json();
        assert_eq!((&asked["target_id"], &asked["status"]), (&json!(id(1)), &json!("pending")));
        assert!(answer.header("countersign-decision").unwrap().starts_with("dec_"));
        let odd = stage.post(&stage.agent, "plans?propose=perhaps", &plan(2, 1)).await;
        assert_eq!(odd.refusal(), (400, "invalid_request".into()));
        let no = stage.post(&stage.agent, "plans?propose=false", &plan(2, 1)).await.expect(201);
        assert_eq!((&no.json()["status"], no.header("countersign-decision")), (&json!("draft"), None));
    }

    /// MPLP-1-01, MPLP-4.3-04, MPLP-3.2-03, MPLP-4.1-04
    async fn a_rejected_plan_is_a_draft_with_the_reason_and_comes_back_under_another_confirm(kit) {
        let stage = Stage::set(kit).await;
        let first = stage.proposed(&archiving(1, 3)).await;
        let rejected = stage.says(&first, "rejected", Some("three is too many")).await;
        assert_eq!(statuses(&rejected), ("rejected".into(), vec!["rejected".into()]));
        let back = stage.plan(1).await;
        assert_eq!(back["status"], "draft");
        let last = back["events"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["event_type"], &last["data"]["reason"]), (&json!("plan.draft"), &json!("three is too many")));
        let shown = stage.get(&stage.agent, &format!("plans/{}/actions", id(1))).await.expect(200).json();
        assert_eq!((&shown["feedback"], shown.get("confirm_id")), (&json!("three is too many"), None));

        let diff = format!("plans/{}/diff", id(1));
        assert_eq!(stage.get(&stage.agent, &diff).await.expect(200).json(), json!({ "lines": [] }));
        let would = stage.post(&stage.agent, &diff, &archiving(1, 2)).await.expect(200).json();
        let lines = json!(["Step 1: its uses went from 3 to 2"]);
        assert_eq!(would["lines"], lines);
        assert_eq!(stage.get(&stage.agent, &diff).await.json(), json!({ "lines": [] }), "nothing was written");
        stage.post(&stage.agent, "plans", &archiving(1, 2)).await.expect(200);
        assert_eq!(stage.get(&stage.agent, &diff).await.json()["lines"], lines);
        assert_eq!(stage.get(&stage.device, &diff).await.json()["lines"], lines, "alice may know it too");

        let second = stage.proposed(&archiving(1, 2)).await;
        assert_ne!(second["confirm_id"], first["confirm_id"]);
        assert_eq!(stage.confirm(&first).await, rejected, "what was decided stays decided");
        stage.says(&second, "approved", None).await;
        assert_eq!(stage.plan(1).await["status"], "approved");
        let shown = stage.get(&stage.agent, &format!("plans/{}/actions", id(1))).await.json();
        assert_eq!((shown.get("feedback"), &shown["confirm_id"]), (None, &second["confirm_id"]));
    }

    ///
    async fn each_step_is_returned_with_its_action_and_its_rest(kit) {
        let stage = Stage::set(kit).await;
        let below = format!("plans/{}/actions", id(1));
        let mut sent = archiving(1, 3);
        sent["plan"] = plan(1, 2);
        sent["lasts_seconds"] = json!(600);
        let asked = stage.proposed(&sent).await;
        let shown = stage.get(&stage.agent, &below).await.expect(200).json();
        assert_eq!((&shown["status"], &shown["confirm_id"]), (&json!("proposed"), &asked["confirm_id"]));
        assert_eq!((&shown["lasts_seconds"], shown.get("until")), (&json!(600), None));
        let runs = &shown["steps"][0]["runs"];
        assert_eq!((&runs["tool"], &runs["arguments"]), (&json!("notes.archive"), &json!({ "note": "a" })));
        assert_eq!((&runs["words"], &runs["risk_level"], &runs["asks_again"]), (&json!("agent"), &json!("medium"), &json!(false)));
        assert_eq!((&runs["uses"], &runs["done"], runs.get("left")), (&json!(3), &json!(0), None), "nobody said yes yet");
        assert_eq!(shown["steps"][1].get("runs"), None, "the second is the agent's own business");

        stage.says(&asked, "approved", None).await;
        let until = stage.plane.now().plus_secs(600).to_rfc3339();
        let shown = stage.get(&stage.device, &below).await.expect(200).json();
        assert_eq!((&shown["status"], &shown["until"]), (&json!("approved"), &json!(until)));
        let left = &shown["steps"][0]["runs"]["left"];
        assert_eq!((&left["state"], &left["uses"], &left["until"]), (&json!("open"), &json!(3), &json!(until)));

        let call = countersign_testkit::decisions::confirmation("notes.archive", json!({ "note": "b" }));
        let covered = stage.agent.requests_confirmation(&stage.plane, &call).await.expect(200).json();
        let claim = json!({ "tool": "notes.archive", "arguments": { "note": "b" } });
        stage.agent.claims(&stage.plane, &covered, &claim).await.expect(200);
        let runs = stage.get(&stage.agent, &below).await.json()["steps"][0]["runs"].clone();
        assert_eq!((&runs["under_way"], &runs["done"], &runs["left"]["uses"]), (&json!(1), &json!(0), &json!(2)));
        stage.agent.reports(&stage.plane, &covered, "committed").await.expect(200);
        let runs = stage.get(&stage.agent, &below).await.json()["steps"][0]["runs"].clone();
        assert_eq!((&runs["under_way"], &runs["done"], &runs["left"]["uses"]), (&json!(0), &json!(1), &json!(2)));
        assert_eq!(stage.plan(1).await["status"], "in_progress");
    }

    ///
    async fn plans_and_confirms_are_listed_newest_first_a_page_at_a_time(kit) {
        let stage = Stage::set(kit).await;
        for n in 1..=5 {
            stage.plane.advance_secs(1).await;
            stage.proposed(&plan(n, 1)).await;
        }
        for (kind, name) in [("plans", "plan_id"), ("confirms", "target_id")] {
            let mut found = Vec::new();
            let mut query = "limit=2".to_owned();
            for _ in 0..4 {
                let page = stage.get(&stage.agent, &format!("{kind}?{query}")).await.expect(200).json();
                found.extend(page["items"].as_array().unwrap().iter().map(|item| item[name].as_str().unwrap().to_owned()));
                let Some(next) = page["next"].as_str() else { break };
                query = format!("limit=2&before={next}");
            }
            assert_eq!(found, [id(5), id(4), id(3), id(2), id(1)], "{kind}");
            for odd in ["limit=0", "limit=-1", "limit=x", "before=plan"] {
                let answer = stage.get(&stage.agent, &format!("{kind}?{odd}")).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{odd}");
            }
        }
        let trace = stage.get(&stage.agent, &format!("plans/{}/trace", id(1))).await.expect(200).json();
        assert_eq!((&trace["plan_id"], &trace["status"]), (&json!(id(1)), &json!("pending")));
        assert_eq!(trace["segments"][0]["attributes"]["step_id"], step(1, 1));
    }
}
