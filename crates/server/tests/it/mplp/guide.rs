//! The guide's examples, sent verbatim.

use super::{Stage, place};
use countersign_engine::Role;
use countersign_testkit::{Setup, TestAgent, decisions::payments, on_sqlite};
use serde_json::{Value, json};

const GUIDE: &str = include_str!("../../../../../docs/MPLP.md");

/// The content of the code fence of this name.
fn fence(name: &str) -> &'static str {
    let (_, behind) = GUIDE.split_once(&format!("```{name}\n")).unwrap_or_else(|| panic!("no example {name}"));
    behind.split_once("```").unwrap().0
}

fn example(name: &str) -> Value {
    serde_json::from_str(fence(&format!("json {name}"))).unwrap()
}

/// The calendar's project with the guide's additions.
fn setup() -> Setup {
    let mut document = serde_json::to_value(payments("calendar")).unwrap();
    let added: Value = toml::from_str(fence("toml project")).unwrap();
    let Value::Object(added) = added else { panic!("no table") };
    for (name, value) in added {
        match document.get_mut(&name) {
            Some(Value::Array(all)) if name == "actions" => all.extend(value.as_array().unwrap().clone()),
            _ => document[name] = value,
        }
    }
    Setup { projects: vec![serde_json::from_value(document).unwrap()], ..Setup::default() }
}

on_sqlite! {
    /// R-7
    async fn every_example_of_the_guide_works(kit) {
        let plane = kit.plane_with(setup()).await;
        let stage = Stage::with_key(kit, plane, &["invoices.pay", "mplp.context"]).await;
        let plan = example("plan");
        stage.post(&stage.agent, "plans", &plan).await.expect(201);
        let below = format!("plans/{}", plan["plan"]["plan_id"].as_str().unwrap());
        let asked = stage.post(&stage.agent, &format!("{below}/propose"), &example("propose")).await.expect(201).json();
        stage.decides(&stage.device, &asked, &example("decision")).await.expect(201);
        let first = plan["plan"]["steps"][0]["step_id"].as_str().unwrap();
        for status in ["in_progress", "completed"] {
            stage.post(&stage.agent, &format!("{below}/steps/{first}"), &json!({ "status": status })).await.expect(200);
        }
        let call = example("confirmation");
        let covered = stage.agent.requests_confirmation(&stage.plane, &call).await.expect(200).json();
        assert_eq!(covered["state"], "accepted");
        let claim = json!({ "tool": call["tool"], "arguments": call["arguments"] });
        stage.agent.claims(&stage.plane, &covered, &claim).await.expect(200);
        stage.agent.reports(&stage.plane, &covered, "committed").await.expect(200);
        let shown = stage.get(&stage.agent, &format!("{below}/actions")).await.expect(200).json();
        let left = &shown["steps"][1]["runs"]["left"];
        assert_eq!((&left["uses"], &left["sums"][0]["left"]), (&json!(1), &json!("440.00")));

        let mut other = call.clone();
        other["arguments"]["to"] = json!("Globex");
        let held = stage.agent.requests_confirmation(&stage.plane, &other).await.expect(201).json();
        let digits = held["decision_id"].as_str().unwrap().strip_prefix("dec_").unwrap();
        let parts: Vec<&str> = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map(|(a, b)| &digits[a..b]).to_vec();
        let held = json!({ "confirm_id": parts.join("-") });
        stage.decides(&stage.device, &held, &example("bounded")).await.expect(201);

        let confirm = stage.post(&stage.agent, "confirms", &example("confirm")).await.expect(201).json();
        let boss = stage.person("boss", Role::Admin).await;
        let governance = format!("{}/governance", place(&confirm));
        stage.put(&boss, &governance, &example("governance")).await.expect(200);
        let admin: TestAgent = stage.admin_key().await;
        stage.get(&admin, "learning-samples").await.expect(200);
        stage.get(&stage.agent, "events").await.expect(200);
    }
}
