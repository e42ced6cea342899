//! `countersign plan`, through the built binary, against a node started from it.

mod propose;
mod watch;

use crate::{cli_folder::Ran, cli_inbox::Asked};
use serde_json::{Value, json};

const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
const OWN: &str = "1a6f3c58-0d92-4b7e-a4c1-5e8b29d70f36";
const SENDS: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";

/// A plan with two steps: the agent's own, and letters to Sam.
fn plan(uses: i64) -> Value {
    let step = |id: &str, description: &str| json!({ "step_id": id, "description": description, "status": "pending" });
    json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": PLAN, "context_id": OWN, "title": "Write to Sam", "objective": "Sam knows", "status": "approved",
            "steps": [step(OWN, "Think"), step(SENDS, "Send letters")],
        },
        "actions": { SENDS: {
            "tool": "mail.send",
            "arguments": { "to": "sam", "text": "hello" },
            "released": { "text": { "text": 40 } },
            "uses": uses,
        }},
    })
}

fn write(asked: &Asked, uses: i64) {
    asked.folder.write("plan.json", &plan(uses).to_string());
}

/// Writes and proposes the plan; returns the decision id.
pub(crate) fn proposes(asked: &Asked, uses: i64) -> String {
    write(asked, uses);
    let ran = asked.plan(&["propose", "plan.json", "--json"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["plan_id"], &told["status"]), (&json!(PLAN), &json!("proposed")));
    told["decision_id"].as_str().unwrap().to_owned()
}

fn approves(asked: &Asked, id: &str) {
    let ran = asked.inbox(&["answer", id, "yes"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// The agent sends a letter under the plan and reports the outcome.
fn sends(asked: &Asked, text: &str) {
    let arguments = json!({ "to": "sam", "text": text });
    let body = json!({ "action": "x", "consequence": "y", "tool": "mail.send", "arguments": arguments });
    let told = asked.agent("POST", "/v1/confirmations", &body);
    assert_eq!(told["state"], "accepted", "{told}");
    let path = |end: &str| format!("/v1/decisions/{}/{end}", told["decision_id"].as_str().unwrap());
    let claimed = asked.agent(
        "POST",
        &path("claim"),
        &json!({ "tool": "mail.send", "arguments": { "to": "sam", "text": text } }),
    );
    let outcome = json!({ "status": "committed", "execution_id": claimed["execution"]["execution_id"] });
    asked.agent("POST", &path("outcome"), &outcome);
}

/// The agent performs its own step.
fn thinks(asked: &Asked) {
    for status in ["in_progress", "completed"] {
        asked.agent("POST", &format!("/mplp/v1/plans/{PLAN}/steps/{OWN}"), &json!({ "status": status }));
    }
}

fn fails(ran: &Ran, error: &str, hint: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains(error) && ran.err.contains(hint), "{error}, {hint}: {}", ran.err);
}
