//! Standing approvals with their remaining uses, for the people concerned, and their revocation.

use super::{Stage, archiving, id, items, step};
use countersign_engine::Role;
use countersign_testkit::{decisions::confirmation, on_sqlite};
use serde_json::{Value, json};

fn revoke(shown: &Value) -> String {
    format!("allowances/{}/revoke", shown["left"]["allowance_id"].as_str().unwrap())
}

on_sqlite! {
    ///
    async fn an_approved_step_and_a_standing_approval_are_listed_with_their_rest(kit) {
        let stage = Stage::set(kit).await;
        assert_eq!(items(&stage.get(&stage.device, "allowances").await.expect(200)), Vec::<Value>::new());
        let asked = stage.proposed(&archiving(1, 3)).await;
        stage.says(&asked, "approved", None).await;
        let call = json!({ "note": "a", "amount": "10.00", "unit": "EUR" });
        stage.agent.requests_approval(&stage.plane, "notes.tidy", call).await;
        let shown = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        let bounds = json!({ "uses": 4, "seconds": 600,
            "released": { "amount": { "most": "20.00", "sum": "50.00", "unit": "EUR", "unit_from": "unit" } } });
        stage.decides(&stage.device, &shown, &json!({ "status": "approved", "bounds": bounds })).await.expect(201);

        let open = items(&stage.get(&stage.device, "allowances").await.expect(200));
        assert_eq!(open.len(), 2);
        let of = |confirm: &Value| open.iter().find(|one| one["confirm_id"] == confirm["confirm_id"]).unwrap();
        let (of_plan, bounded) = (of(&asked), of(&shown));
        assert_eq!((&of_plan["plan_id"], &of_plan["step_id"]), (&json!(id(1)), &json!(step(1, 1))));
        assert_eq!((&of_plan["uses"], &of_plan["left"]["uses"], &of_plan["left"]["state"]), (&json!(3), &json!(3), &json!("open")));
        assert!(of_plan["shown"].as_str().unwrap().contains("notes.archive") && of_plan["words"] == "agent");
        assert_eq!(of_plan["released"]["note"]["one_of"], json!(["a", "b", "c"]));
        assert_eq!((&bounded["uses"], bounded.get("plan_id")), (&json!(4), None));
        assert_eq!(bounded["left"]["sums"], json!([{ "argument": "amount", "limit": "50.00", "left": "50.00", "unit": "EUR" }]));
        assert_eq!(bounded["agent"], stage.agent.principal);

        let next = json!({ "note": "a", "amount": "20.00", "unit": "EUR" });
        let covered = stage.agent.requests_confirmation(&stage.plane, &confirmation("notes.tidy", next.clone())).await.expect(200).json();
        let claim = json!({ "tool": "notes.tidy", "arguments": next });
        stage.agent.claims(&stage.plane, &covered, &claim).await.expect(200);
        let open = items(&stage.get(&stage.device, "allowances").await.expect(200));
        let bounded = open.iter().find(|one| one["confirm_id"] == shown["confirm_id"]).unwrap();
        assert_eq!((&bounded["left"]["uses"], &bounded["left"]["sums"][0]["left"]), (&json!(3), &json!("30.00")));
    }

    ///
    async fn a_revoked_approval_lets_nothing_run_any_more(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&archiving(1, 3)).await;
        stage.says(&asked, "approved", None).await;
        let call = confirmation("notes.archive", json!({ "note": "b" }));
        stage.agent.requests_confirmation(&stage.plane, &call).await.expect(200);
        let open = items(&stage.get(&stage.device, "allowances").await).remove(0);
        let over = stage.post(&stage.device, &revoke(&open), &json!({ "reason": "changed my mind" })).await.expect(200).json();
        assert_eq!((&over["state"], &over["uses"]), (&json!("cancelled"), &json!(0)));
        assert_eq!(over["allowance_id"], open["left"]["allowance_id"]);
        assert_eq!(items(&stage.get(&stage.device, "allowances").await), Vec::<Value>::new());
        stage.agent.requests_confirmation(&stage.plane, &call).await.expect(201);
        let again = stage.post(&stage.device, &revoke(&open), &json!({})).await;
        assert_eq!(again.refusal(), (409, "conflict".into()));
        let shown = stage.get(&stage.agent, &format!("plans/{}/actions", id(1))).await.expect(200).json();
        assert_eq!(shown["steps"][0]["runs"]["left"]["state"], "cancelled");
        assert_eq!(shown["steps"][0]["status"], "skipped");
    }

    ///
    async fn nobody_revokes_or_sees_approvals_of_others(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&archiving(1, 3)).await;
        stage.says(&asked, "approved", None).await;
        let open = items(&stage.get(&stage.device, "allowances").await).remove(0);
        let eve = stage.person("eve", Role::User).await;
        assert_eq!(items(&stage.get(&eve, "allowances").await.expect(200)), Vec::<Value>::new());
        assert_eq!(stage.post(&eve, &revoke(&open), &json!({})).await.refusal(), (403, "not_authorized".into()));
        for odd in ["alw_0000000000000001", "alw_", "x", "alw_zz"] {
            let answer = stage.post(&stage.device, &format!("allowances/{odd}/revoke"), &json!({})).await;
            assert_eq!(answer.refusal(), (404, "not_found".into()), "{odd}");
        }
        assert_eq!(items(&stage.get(&stage.device, "allowances").await), std::slice::from_ref(&open));
        let boss = stage.person("boss", Role::Admin).await;
        assert_eq!(items(&stage.get(&boss, "allowances").await), std::slice::from_ref(&open));
        stage.post(&boss, &revoke(&open), &json!({})).await.expect(200);
    }
}
