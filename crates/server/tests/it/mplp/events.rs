//! The past events, in pages: in order, without gaps, and only to readers concerned.

use super::{Stage, archiving, id, items, place, plan};
use countersign_engine::Role;
use countersign_testkit::{decisions::confirmation, on_both_stores};
use serde_json::{Value, json};

on_both_stores! {
    /// MPLP-4.3-05, MPLP-4.3-06, MPLP-4.3-07, MPLP-4.3-08
    async fn a_plans_transitions_are_events_in_order(kit) {
        let stage = Stage::set(kit).await;
        let mut told_before = 0;
        let mut since = async |stage: &Stage| {
            let told = stage.told(&stage.agent).await;
            let new = told[told_before..].to_vec();
            told_before = told.len();
            new
        };
        let types = |told: &[Value]| told.iter().map(|e| e["event_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        let asked = stage.proposed(&archiving(1, 1)).await;
        let told = since(&stage).await;
        let expected = ["plan_created", "confirm_created", "confirm_pending", "plan_status_changed"];
        assert_eq!(types(&told), expected.map(str::to_owned));
        let rejected = stage.says(&asked, "rejected", Some("not so")).await;
        let told = since(&stage).await;
        let (plan_id, confirm_id) = (json!(id(1)), asked["confirm_id"].clone());
        for name in ["plan_rejected", "confirm_resolved"] {
            let event = told.iter().find(|event| event["event_type"] == name).unwrap();
            assert_eq!((&event["event_family"], &event["stage_id"]), (&json!("pipeline_stage"), &json!("confirm")));
            assert_eq!((&event["pipeline_id"], &event["stage_status"]), (&plan_id, &json!("failed")));
            let payload = &event["payload"];
            assert_eq!((&payload["plan_id"], &payload["confirm_id"]), (&plan_id, &confirm_id));
            assert_eq!((&payload["decided_by"], &payload["status"]), (&json!("user"), &json!("rejected")));
            assert_eq!(event["timestamp"], rejected["decisions"][0]["decided_at"]);
        }
        assert!(!types(&told).contains(&"plan_approved".to_owned()));
        assert!(!format!("{told:?}").contains("not so"), "what people wrote is not told to observers (R-25)");

        let asked = stage.proposed(&archiving(1, 1)).await;
        since(&stage).await;
        stage.says(&asked, "cancelled", None).await;
        let told = since(&stage).await;
        assert!(types(&told).contains(&"confirm_resolved".to_owned()));
        assert!(!types(&told).iter().any(|name| name == "plan_rejected" || name == "plan_approved"), "{told:#?}");
        let changed = told.iter().find(|event| event["event_type"] == "plan_status_changed").unwrap();
        assert_eq!((&changed["payload"]["from"], &changed["payload"]["to"]), (&json!("proposed"), &json!("draft")));

        let asked = stage.proposed(&archiving(1, 1)).await;
        since(&stage).await;
        stage.says(&asked, "approved", None).await;
        let told = since(&stage).await;
        let approved = told.iter().find(|event| event["event_type"] == "plan_approved").unwrap();
        assert_eq!((&approved["stage_status"], &approved["payload"]["status"]), (&json!("completed"), &json!("approved")));

        let call = confirmation("notes.archive", json!({ "note": "a" }));
        let covered = stage.agent.requests_confirmation(&stage.plane, &call).await.expect(200).json();
        let claim = json!({ "tool": "notes.archive", "arguments": { "note": "a" } });
        stage.agent.claims(&stage.plane, &covered, &claim).await.expect(200);
        stage.agent.reports(&stage.plane, &covered, "committed").await.expect(200);
        let told = since(&stage).await;
        let ran: Vec<&Value> = told.iter().filter(|event| event["event_family"] == "runtime_execution").collect();
        assert_eq!((&ran[0]["status"], &ran[1]["status"], ran.len()), (&json!("running"), &json!("completed"), 2));
        assert_eq!((&ran[1]["payload"]["plan_id"], &ran[0]["execution_id"]), (&plan_id, &ran[1]["execution_id"]));
        assert_eq!(types(&told).last().unwrap(), "plan_status_changed");
        assert_eq!(stage.plan(1).await["status"], "completed");
    }

    ///
    async fn a_page_goes_on_where_the_last_one_ended_and_ends_where_nothing_more_happened(kit) {
        let stage = Stage::set(kit).await;
        for n in 1..=3 {
            let asked = stage.proposed(&plan(n, 1)).await;
            stage.says(&asked, "approved", None).await;
        }
        let all = stage.told(&stage.agent).await;
        for limit in [1, 2, 3, 200] {
            let (mut found, mut after) = (Vec::new(), String::new());
            for _ in 0..100 {
                let page = stage.get(&stage.agent, &format!("events?limit={limit}&after={after}")).await.expect(200);
                found.extend(items(&page));
                let next = page.json()["next"].as_str().unwrap().to_owned();
                if next == after {
                    break;
                }
                after = next;
            }
            assert_eq!(found, all, "limit {limit}");
        }
        let mut ids: Vec<&str> = all.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "every event has an id of its own");
        for odd in ["after=x", "after=1", "after=1.x", "limit=0", "limit=all"] {
            let answer = stage.get(&stage.agent, &format!("events?{odd}")).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{odd}");
        }
    }

    ///
    async fn an_agent_gets_its_own_events_and_an_overseer_all(kit) {
        let stage = Stage::set(kit).await;
        let connected = stage.plane.connect(&stage.alice, stage.plane.acme(), &["calendar.read"]).await;
        let other = stage.plane.register(stage.plane.acme(), &connected).await.as_test_agent();
        stage.proposed(&plan(1, 1)).await;
        stage.post(&other, "plans?propose=true", &plan(2, 1)).await.expect(201);
        let of = |told: Vec<Value>, n: u64| told.iter().filter(|event| event.to_string().contains(&id(n))).count();
        let (mine, theirs) = (stage.told(&stage.agent).await, stage.told(&other).await);
        assert_eq!((of(mine.clone(), 2), of(theirs.clone(), 1)), (0, 0));
        assert!(of(mine.clone(), 1) > 0 && of(theirs.clone(), 2) > 0);
        let auditor = stage.person("otto", Role::Auditor).await;
        let boss = stage.person("boss", Role::Admin).await;
        for who in [&auditor, &boss, &stage.admin_key().await] {
            let told = stage.told(who).await;
            assert_eq!(told.len(), mine.len() + theirs.len());
            assert!(of(told.clone(), 1) > 0 && of(told, 2) > 0);
        }
        let person = stage.get(&stage.device, "events").await;
        assert_eq!(person.refusal(), (403, "not_authorized".into()));
    }

    /// MPLP-2.3-06
    async fn a_confirmation_without_a_plan_has_its_confirm_as_pipeline(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.agent.requests_approval(&stage.plane, "mail.send", json!({ "to": "bob" })).await;
        stage.alice.accepts(&stage.plane, &asked).await;
        let shown = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        let told = stage.told(&stage.agent).await;
        let resolved = told.iter().find(|event| event["event_type"] == "confirm_resolved").unwrap();
        assert_eq!((&resolved["pipeline_id"], &resolved["stage_status"]), (&shown["confirm_id"], &json!("completed")));
        assert_eq!(resolved["payload"].get("plan_id"), None);
        assert_eq!(stage.get(&stage.agent, &place(&shown)).await.json()["status"], "approved");
    }
}
