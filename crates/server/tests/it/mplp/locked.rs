//! A locked Confirm takes no decision, except from a person with the override capability (M-27).

use super::{Stage, confirm, items, place, statuses};
use countersign_engine::Role;
use countersign_testkit::on_sqlite;
use serde_json::{Value, json};

fn governance(confirm: &Value) -> String {
    format!("{}/governance", place(confirm))
}

on_sqlite! {
    /// MPLP-2.2-06
    async fn an_override_decides_and_is_recorded_as_one(kit) {
        let stage = Stage::set(kit).await;
        stage.plane.give_roles("calendar", "alice", &[Role::User, Role::Admin]).await;
        for (n, status) in (1..).zip(["approved", "rejected", "cancelled"]) {
            let mut sent = confirm("context", n);
            sent["governance"] = json!({ "locked": true });
            let locked = stage.post(&stage.agent, "confirms", &sent).await.expect(201).json();
            assert_eq!(locked["governance"]["locked"], true, "an agent may only tighten (R-1)");
            let without = stage.decides(&stage.device, &locked, &json!({ "status": status })).await;
            assert_eq!(without.refusal(), (409, "conflict".into()), "{status}");
            let body = json!({ "status": status, "override": true, "reason": "it cannot wait" });
            let decided = stage.decides(&stage.device, &locked, &body).await.expect(201).json();
            assert_eq!(statuses(&decided), (status.into(), vec![status.into()]));
            let last = decided["events"].as_array().unwrap().last().unwrap();
            assert_eq!(last["data"]["override"], true, "{status}");
        }
    }

    /// MPLP-2.2-06, R-14
    async fn only_a_person_with_override_locks_and_only_open_questions(kit) {
        let stage = Stage::set(kit).await;
        let boss = stage.person("boss", Role::Admin).await;
        let stranger = stage.person("eve", Role::User).await;
        let asked = stage.asked("context", 1).await;
        let lock = json!({ "locked": true });
        let below = governance(&asked);
        assert_eq!(stage.put(&stage.device, &below, &lock).await.refusal(), (403, "not_authorized".into()));
        assert_eq!(stage.put(&stranger, &below, &lock).await.refusal(), (404, "not_found".into()));
        assert_eq!(stage.put(&stage.agent, &below, &lock).await.refusal(), (403, "not_authorized".into()));
        let key = stage.admin_key().await;
        assert_eq!(stage.put(&key, &below, &lock).await.refusal(), (403, "not_authorized".into()));
        let odd = stage.put(&boss, &below, &json!({ "locked": "yes" })).await;
        assert_eq!(odd.refusal(), (400, "invalid_request".into()));
        assert_eq!(stage.confirm(&asked).await, asked);
        let decided = stage.says(&asked, "rejected", None).await;
        let late = stage.put(&boss, &below, &lock).await;
        assert_eq!((late.refusal(), &late.json()["decision"]["status"]), ((409, "conflict".into()), &json!("rejected")));
        assert_eq!(stage.confirm(&asked).await, decided);
        assert_eq!(items(&stage.get(&boss, "confirms").await).len(), 1);
    }
}
