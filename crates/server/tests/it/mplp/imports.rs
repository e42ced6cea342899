//! Approval records of others: stored for reading, and nothing is enforced from them (M-07, R-14).

use super::{Stage, confirm, id, items, place, plan, statuses};
use countersign_engine::Role;
use countersign_testkit::{decisions::confirmation, on_sqlite};
use serde_json::{Value, json};

/// Rejected at first, then approved, as one flow of the published tests ends.
fn history(n: u64, claimed: &str) -> Value {
    let decision = |at: u64, status: &str| {
        json!({ "decision_id": id(100 + at), "status": status,
        "decided_by_role": "dba_reviewer", "decided_at": format!("2025-12-07T00:0{at}:00.000Z"), "reason": "as I see it" })
    };
    let mut document = confirm("plan", n);
    document["status"] = json!(claimed);
    document["decisions"] = json!([decision(1, "rejected"), decision(2, "approved")]);
    document
}

on_sqlite! {
    /// MPLP-3.2-05
    async fn a_history_with_several_decisions_is_kept_with_the_status_of_the_last(kit) {
        let stage = Stage::set(kit).await;
        for (n, claimed) in [(1, "approved"), (2, "pending"), (3, "rejected")] {
            let sent = history(n, claimed);
            let answer = stage.post(&stage.agent, "confirms/imports", &sent).await.expect(201);
            let kept = answer.json();
            assert_eq!(answer.header("location"), Some(format!("/mplp/v1/{}", place(&sent)).as_str()));
            assert_eq!(statuses(&kept), ("approved".into(), vec!["rejected".into(), "approved".into()]));
            assert_eq!(kept["decisions"], sent["decisions"]);
            assert_eq!(stage.confirm(&sent).await, kept);
        }
        assert_eq!(items(&stage.get(&stage.agent, "confirms").await), Vec::<Value>::new(), "they are no questions here");
        assert_eq!(stage.alice.pending_questions(&stage.plane).await, 0);
    }

    /// MPLP-3.2-05, R-14
    async fn nothing_is_decided_about_it_and_it_allows_nothing(kit) {
        let stage = Stage::set(kit).await;
        let boss = stage.person("boss", Role::Admin).await;
        stage.post(&stage.agent, "plans", &plan(1, 1)).await.expect(201);
        let sent = history(1, "approved");
        let kept = stage.post(&stage.agent, "confirms/imports", &sent).await.expect(201).json();
        assert_eq!(stage.plan(1).await["status"], "draft");
        for who in [&boss, &stage.agent] {
            let answer = stage.decides(who, &sent, &json!({ "status": "cancelled" })).await;
            assert_eq!((answer.refusal(), &answer.json()["decision"]["status"]), ((409, "conflict".into()), &json!("approved")));
        }
        let answer = stage.put(&boss, &format!("{}/governance", place(&sent)), &json!({ "locked": true })).await;
        assert_eq!(answer.refusal(), (404, "not_found".into()));
        assert_eq!(stage.confirm(&sent).await, kept);
        let decision = json!({ "decision_id": format!("dec_{}", sent["confirm_id"].as_str().unwrap().replace('-', "")) });
        assert_eq!(stage.agent.reads_decision(&stage.plane, &decision).await.refusal(), (404, "not_found".into()));
        let call = confirmation("notes.archive", json!({ "note": "a" }));
        stage.agent.requests_confirmation(&stage.plane, &call).await.expect(201);
    }

    /// R-10, M-07
    async fn an_id_is_imported_once_and_none_of_ours_can_be_taken(kit) {
        let stage = Stage::set(kit).await;
        let other = stage.plane.agent_key("alice", &[]).await;
        stage.post(&stage.agent, "confirms/imports", &history(1, "approved")).await.expect(201);
        for who in [&stage.agent, &other] {
            let again = stage.post(who, "confirms/imports", &history(1, "approved")).await;
            assert_eq!(again.refusal(), (409, "conflict".into()));
        }
        let mut ours = stage.asked("context", 1).await;
        ours["status"] = json!("approved");
        let taken = stage.post(&stage.agent, "confirms/imports", &ours).await;
        assert_eq!(taken.refusal(), (409, "conflict".into()));
        assert_eq!(stage.confirm(&ours).await["status"], "pending");
        let theirs = place(&history(1, "approved"));
        assert_eq!(stage.get(&other, &theirs).await.refusal(), (404, "not_found".into()));
        assert_eq!(stage.get(&stage.device, &theirs).await.refusal(), (404, "not_found".into()));
        stage.get(&stage.admin_key().await, &theirs).await.expect(200);
        let person = stage.post(&stage.device, "confirms/imports", &history(2, "approved")).await;
        assert_eq!(person.refusal(), (403, "not_authorized".into()));
    }
}
