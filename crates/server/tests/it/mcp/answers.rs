//! Every result of a tool fits the output schema that the tool publishes: by the validators of MCP's own
//! clients (ajv and Python's jsonschema) and by ours. `call_tool` already validates each against ours.

use super::calling::{PATH, call_tool, result_of};
use crate::mplp::Stage;
use countersign_testkit::{
    Plane, TestAgent, TestPerson, decisions::confirmation, mplp_judge::foreign_judges, on_sqlite,
};
use serde_json::{Value, json};

const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
const FIRST: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";
const SECOND: &str = "5f0d3a76-1b28-4c9d-8e43-70b6f2d9a151";

/// Calls tools and collects their results.
struct Calls<'a> {
    plane: &'a Plane,
    agent: &'a TestAgent,
    alice: &'a TestPerson,
    kept: Vec<(String, Value)>,
}

impl Calls<'_> {
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let told = call_tool(self.plane, self.agent, tool, arguments).await;
        self.kept.push((tool.to_owned(), told.content.clone()));
        told.content
    }

    async fn asks(&mut self, tool: &str, arguments: Value) -> Value {
        self.call("request_confirmation", confirmation(tool, arguments)).await
    }

    async fn looks(&mut self, asked: &Value) -> Value {
        self.call("await_decision", json!({ "decision_id": asked["decision_id"], "wait_seconds": 0 })).await
    }

    /// A question that alice answers; returns the agent's result.
    async fn asks_and_hears(&mut self, question: Value, answer: Value) -> Value {
        let asked = self.call("request_clarification", question).await;
        assert_eq!((&asked["state"], &asked["kind"]), (&json!("pending"), &json!("clarification")), "{asked}");
        self.alice.answers(self.plane, &asked, answer).await;
        let told = self.looks(&asked).await;
        assert!(told["next"].as_str().unwrap().contains("response"), "{told}");
        told
    }

    /// Validates every collected result against the published schemas, with validators in other languages.
    async fn judged(self) {
        let mut tools = result_of(&self.plane.public, PATH, self.agent, "tools/list", json!({})).await["tools"].clone();
        let schemas = tools.as_array_mut().unwrap().iter_mut().map(|tool| {
            tool["outputSchema"]["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
            tool["outputSchema"]["$id"] = json!(format!("urn:tool:{}", tool["name"].as_str().unwrap()));
            &tool["outputSchema"]
        });
        let schemas: Vec<&Value> = schemas.collect();
        let case = |(tool, told): &(String, Value)| json!({ "schema": format!("urn:tool:{tool}"), "document": told });
        let cases: Vec<Value> = self.kept.iter().map(case).collect();
        for judge in foreign_judges(&schemas) {
            for ((tool, told), accepted) in self.kept.iter().zip(judge.verdicts(&cases)) {
                assert!(accepted, "{} refuses what {tool} said: {told:#}", judge.name());
            }
        }
    }
}

fn plan() -> Value {
    let step = |id: &str, words: &str| json!({ "step_id": id, "description": words, "status": "pending" });
    let mut second = step(SECOND, "Look whether it is tidy");
    second["dependencies"] = json!([FIRST]);
    json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": PLAN, "context_id": FIRST, "title": "Tidy", "objective": "No old notes", "status": "draft",
            "steps": [step(FIRST, "Archive the note"), second],
        },
        "actions": { FIRST: { "tool": "notes.archive", "arguments": { "note": 1 },
            "released": { "note": { "one_of": [1, "two", true, { "three": 3 }] } } } },
    })
}

on_sqlite! {
    /// text, a choice, a number, yes or no, and a default, as the agent's client receives them.
    async fn a_persons_answer_of_any_kind_reaches_the_agent(kit) {
        let stage = Stage::set(kit).await;
        let mut calls = Calls { plane: &stage.plane, agent: &stage.agent, alice: &stage.alice, kept: Vec::new() };
        let choices = json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]);
        for (kind, answer) in [
            ("freetext", json!("the blue one")), ("yes_no", json!(true)), ("yes_no", json!(false)),
            ("numeric", json!(67)), ("numeric", json!(-6.7)), ("multiple_choice", json!("b")),
        ] {
            let mut question = json!({ "question": format!("Which {kind}, {answer}?"), "accepted_response_kinds": [kind] });
            if kind == "multiple_choice" {
                question["choices"] = choices.clone();
            }
            let told = calls.asks_and_hears(question, answer.clone()).await;
            assert_eq!((&told["state"], &told["response"]), (&json!("answered"), &answer));
        }
        let default = json!({ "question": "Which account?", "timeout_seconds": 60, "default_response": "the usual" });
        let (default, bare) = (
            calls.call("request_clarification", default).await,
            calls.call("request_clarification", json!({ "question": "Which colour?", "timeout_seconds": 60 })).await,
        );
        stage.plane.advance_secs(61).await;
        assert_eq!(calls.looks(&default).await["response"], "the usual");
        let nobody = calls.looks(&bare).await;
        assert_eq!((&nobody["expired_as"], nobody.get("response")), (&json!("unavailable"), None));
        assert!(nobody["next"].as_str().unwrap().contains("do not guess"), "{nobody}");
        calls.judged().await;
    }

    async fn every_state_of_a_confirmation_is_returned_as_published(kit) {
        let stage = Stage::set(kit).await;
        let (plane, alice) = (&stage.plane, &stage.alice);
        let mut calls = Calls { plane, agent: &stage.agent, alice, kept: Vec::new() };
        let pending = calls.asks("notes.archive", json!({ "n": 1 })).await;
        calls.looks(&pending).await;
        alice.rejects(plane, &pending, Some("not now")).await;
        assert_eq!(calls.looks(&pending).await["state"], "rejected");
        let proposed = calls.asks("notes.archive", json!({ "n": 2 })).await;
        alice.proposes(plane, &proposed, json!({ "n": 3 })).await;
        assert_eq!(calls.looks(&proposed).await["proposal"], json!({ "n": 3 }));
        let withdrawn = calls.asks("notes.archive", json!({ "n": 4 })).await;
        let id = &withdrawn["decision_id"];
        let told = calls.call("withdraw_question", json!({ "decision_id": id, "reason": "not needed" })).await;
        assert_eq!((&told["state"], &told["reason"]), (&json!("cancelled"), &json!("not needed")));
        let again = calls.call("withdraw_question", json!({ "decision_id": id })).await;
        assert_eq!(again["error"], "conflict", "once");

        let (by_default, lapsed) = (
            calls.asks("notes.tidy", json!({ "n": 5 })).await,
            calls.asks("payments.send", json!({ "n": 6 })).await,
        );
        alice.accepts(plane, &lapsed).await;
        plane.advance_secs(61).await;
        let told = calls.looks(&by_default).await;
        assert_eq!((&told["state"], &told["expired_as"]), (&json!("expired"), &json!("accept")));
        plane.advance_secs(3600).await;
        assert_eq!(calls.looks(&lapsed).await["allowance"]["state"], "lapsed");

        for (n, outcome) in [(7, "committed"), (8, "failed"), (9, "unknown")] {
            let asked = calls.asks("payments.send", json!({ "n": n })).await;
            alice.accepts(plane, &asked).await;
            calls.looks(&asked).await;
            let begin = json!({ "decision_id": asked["decision_id"], "tool": "payments.send", "arguments": { "n": n } });
            let begun = calls.call("begin_action", begin).await;
            let mut report = json!({ "decision_id": asked["decision_id"], "status": outcome,
                "execution_id": begun["execution"]["execution_id"] });
            match outcome {
                "unknown" => plane.advance_secs(24 * 3600).await,
                _ => {
                    report["error_message"] = json!("so it went");
                    calls.call("report_outcome", report).await;
                }
            }
            assert_eq!(calls.looks(&asked).await["execution"]["state"], outcome);
        }
        let again = calls.asks("payments.send", json!({ "n": 7 })).await;
        assert!(again.get("last_ran_at").is_some(), "{again}");
        calls.judged().await;
    }

    /// everything that an agent needs for a plan, without an address.
    async fn a_plan_goes_from_its_proposal_to_its_end_by_tools_alone(kit) {
        let stage = Stage::set(kit).await;
        let (plane, alice) = (&stage.plane, &stage.alice);
        let mut calls = Calls { plane, agent: &stage.agent, alice, kept: Vec::new() };
        let of_step = |step: &str, status: &str| json!({ "plan_id": PLAN, "step_id": step, "status": status });
        let proposed = calls.call("propose_plan", plan()).await;
        let decision = proposed["decision"].clone();
        assert_eq!(decision["plan_id"], PLAN);
        assert_eq!(calls.call("report_step", of_step(SECOND, "in_progress")).await["error"], "conflict");
        let waits = calls.call("cancel_plan", json!({ "plan_id": PLAN })).await;
        assert_eq!(waits["error"], "conflict");
        assert!(waits["error_description"].as_str().unwrap().contains("withdraw"), "{waits}");
        let withdrawn = calls.call("withdraw_question", json!({ "decision_id": decision["decision_id"] })).await;
        assert_eq!(withdrawn["state"], "cancelled");
        assert_eq!(calls.call("plan_status", json!({ "plan_id": PLAN })).await["status"], "draft");

        let decision = calls.call("propose_plan", plan()).await["decision"].clone();
        alice.accepts(plane, &decision).await;
        let approved = calls.looks(&decision).await;
        for tool in ["request_confirmation", "report_step", "plan_status"] {
            assert!(approved["next"].as_str().unwrap().contains(tool), "{approved}");
        }
        let covered = calls.asks("notes.archive", json!({ "note": "two" })).await;
        assert_eq!(covered["state"], "accepted", "{covered}");
        let begin = json!({ "decision_id": covered["decision_id"], "tool": "notes.archive", "arguments": { "note": "two" } });
        let begun = calls.call("begin_action", begin).await;
        let report = json!({ "decision_id": covered["decision_id"], "status": "committed",
            "execution_id": begun["execution"]["execution_id"] });
        let done = calls.call("report_outcome", report).await;
        assert!(done["next"].as_str().unwrap().contains("report_step"), "the plan goes on: {done}");

        let begun = calls.call("report_step", of_step(SECOND, "in_progress")).await;
        assert_eq!((&begun["status"], &begun["steps"][1]["status"]), (&json!("in_progress"), &json!("in_progress")));
        let mut failed = of_step(SECOND, "failed");
        failed["reason"] = json!("the disk is full");
        assert_eq!(calls.call("report_step", failed).await["status"], "failed");
        calls.judged().await;
    }

    ///
    async fn a_plan_that_runs_is_cancelled_by_its_agent_and_by_no_other(kit) {
        let stage = Stage::set(kit).await;
        let other = stage.plane.agent_key("alice", &["notes.archive"]).await;
        let decision = call_tool(&stage.plane, &stage.agent, "propose_plan", plan()).await.given()["decision"].clone();
        stage.alice.accepts(&stage.plane, &decision).await;
        for (tool, arguments) in [
            ("cancel_plan", json!({ "plan_id": PLAN })),
            ("report_step", json!({ "plan_id": PLAN, "step_id": SECOND, "status": "skipped" })),
            ("withdraw_question", json!({ "decision_id": decision["decision_id"] })),
        ] {
            assert_eq!(call_tool(&stage.plane, &other, tool, arguments).await.refusal(), "not_found", "{tool}");
        }
        let cancelled = json!({ "plan_id": PLAN, "reason": "enough" });
        let told = call_tool(&stage.plane, &stage.agent, "cancel_plan", cancelled).await.given();
        assert_eq!(told["status"], "cancelled");
        let asked = confirmation("notes.archive", json!({ "note": 1 }));
        let asked = call_tool(&stage.plane, &stage.agent, "request_confirmation", asked).await.given();
        assert_eq!(asked["state"], "pending", "nothing of it may run");
    }

    /// the actions that the key lists, with their policy; an action without policy is irreversible and high.
    async fn an_agent_learns_its_permitted_questions(kit) {
        let stage = Stage::set(kit).await;
        let agent = stage.plane.agent_key("alice", &["notes.tidy", "events.get"]).await;
        let told = call_tool(&stage.plane, &agent, "list_actions", json!({})).await.given();
        assert_eq!(told, json!({ "others": false, "actions": [
            { "name": "notes.tidy", "risk_level": "low", "irreversible": false, "timeout_seconds": 60, "default_decision": "accept" },
            { "name": "events.get", "risk_level": "high", "irreversible": true },
        ] }));
        let over_http = agent.send(&stage.plane.public, http::Method::GET, "/v1/actions", None).await.expect(200).json();
        assert_eq!(over_http, told, "the document of /v1");
        let refused = call_tool(&stage.plane, &agent, "request_confirmation", confirmation("mail.send", json!({}))).await;
        assert_eq!(refused.refusal(), "not_authorized");
        assert!(refused.content["hint"].as_str().unwrap().contains("list_actions"), "{}", refused.text);
    }
}
