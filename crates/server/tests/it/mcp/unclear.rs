//! The clarification tools: gaps are asked, answered and proven, and nothing is generated before.

use super::calling::call_tool;
use countersign_testkit::{
    clarification::{Clarifying, proven},
    on_sqlite,
};
use serde_json::{Value, json};

/// Two gaps of the built-in rules: one that blocks, one that warns.
fn unclear() -> Value {
    json!({ "components": [{ "name": "form" }], "languages": ["ar-sa"] })
}

fn said(session: &Value, gap: &str, answer: Value) -> Value {
    json!({ "session_id": session, "gap_id": gap, "answer": answer })
}

on_sqlite! {
    /// WWA-6.1-02, WWA-6.2-01: a malformed request is an error, and so is an unknown session.
    async fn an_invalid_request_is_an_error_and_a_refusal_to_guess_is_none(kit) {
        let stage = Clarifying::start(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        for wrong in [json!({}), json!({ "plan_object": [] }), json!({ "plan_object": {}, "session_id": "1" }),
                      json!({ "plan_object": {}, "protocol_version": "2.0.0" }), json!({ "plan_object": {}, "more": 1 })] {
            assert_eq!(call_tool(plane, agent, "wwa_clarify_check", wrong).await.refusal(), "invalid_request");
        }
        let asked = call_tool(plane, agent, "wwa_clarify_check", json!({ "plan_object": unclear() })).await.given();
        assert_eq!((&asked["status"], &asked["blocking_count"], &asked["warning_count"]),
                   (&json!("needs_clarification"), &json!(1), &json!(1)));
        let session = &asked["session_id"];
        let nobodys = json!("3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d");
        for (wrong, code) in [(said(&nobodys, "gap-001", json!("button")), "not_found"),
                              (said(session, "gap-009", json!("button")), "not_found"),
                              (said(session, "gap-001", json!(7)), "invalid_request")] {
            assert_eq!(call_tool(plane, agent, "wwa_clarify_resolve", wrong).await.refusal(), code);
        }
        for tool in ["wwa_clarify_audit", "wwa_clarify_confirm", "wwa_scaffold_attest"] {
            assert_eq!(call_tool(plane, agent, tool, json!({ "session_id": nobodys })).await.refusal(), "not_found");
        }
    }

    /// WWA-2-01, WWA-8-02, WWA-8-03, WWA-8-04: each tool that the list marks as generating something.
    async fn no_tool_makes_anything_while_a_gap_is_open(kit) {
        let stage = Clarifying::start(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        let asked = call_tool(plane, agent, "wwa_clarify_check", json!({ "plan_object": unclear() })).await.given();
        let session = &asked["session_id"];
        let resolved = call_tool(plane, agent, "wwa_clarify_resolve", said(session, "gap-001", json!("button"))).await.given();
        assert_eq!((&resolved["status"], &resolved["accepted_answer"]), (&json!("resolved"), &json!("button")));
        // The remaining gap is a warning, which blocks no operation by itself, and yet stops all of them.
        for (tool, arguments) in [("wwa_clarify_confirm", json!({ "session_id": session })),
                                  ("wwa_scaffold_attest", json!({ "session_id": session })),
                                  ("wwa_scaffold_plan", json!({ "plan_object": unclear(), "session_id": session }))] {
            let told = call_tool(plane, agent, tool, arguments).await.given();
            assert_eq!(told["status"], "needs_clarification", "{tool}");
            assert_eq!(told["gaps"][0]["severity"], "WARN");
            assert!(told.get("plan").is_none() && told.get("attestation").is_none(), "{tool}: {told}");
        }
    }

    /// WWA-4-07, WWA-5-04, WWA-6.3-01
    async fn once_everything_is_answered_and_confirmed_there_are_plan_attestation_and_proof(kit) {
        let stage = Clarifying::start(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        let asked = call_tool(plane, agent, "wwa_clarify_check", json!({ "plan_object": unclear() })).await.given();
        let session = &asked["session_id"];
        call_tool(plane, agent, "wwa_clarify_resolve", said(session, "gap-001", json!("button"))).await.given();
        let left = call_tool(plane, agent, "wwa_clarify_resolve", said(session, "gap-002", json!("accept"))).await.given();
        assert_eq!((&left["status"], &left["open_gaps"]), (&json!("resolved"), &json!(0)));
        let ready = call_tool(plane, agent, "wwa_clarify_check", json!({ "plan_object": unclear(), "session_id": session })).await;
        assert_eq!(ready.given()["status"], "ready_to_proceed");
        for (tool, arguments) in [("wwa_scaffold_attest", json!({ "session_id": session })),
                                  ("wwa_scaffold_plan", json!({ "plan_object": unclear(), "session_id": session }))] {
            let told = call_tool(plane, agent, tool, arguments).await.given();
            assert_eq!((&told["status"], told.get("plan"), told.get("attestation")), (&json!("ready_to_proceed"), None, None));
        }
        let confirmed = call_tool(plane, agent, "wwa_clarify_confirm", json!({ "session_id": session })).await.given();
        assert_eq!((&confirmed["status"], &confirmed["plan"]["components"][0]["type"]), (&json!("plan_accepted"), &json!("button")));
        let plan = call_tool(plane, agent, "wwa_scaffold_plan", json!({ "plan_object": unclear(), "session_id": session })).await.given();
        assert_eq!(plan["plan"], confirmed["plan"]);
        let attested = call_tool(plane, agent, "wwa_scaffold_attest", json!({ "session_id": session })).await.given();
        assert_eq!(attested["attestation"], confirmed["attestation"]);
        let audit = call_tool(plane, agent, "wwa_clarify_audit", json!({ "session_id": session })).await.given();
        assert_eq!((audit["record"]["total_rounds"].as_u64(), &audit["attestation"]), (Some(2), &confirmed["attestation"]));
        proven(&stage.keys().await, &audit).unwrap();
        let closed = call_tool(plane, agent, "wwa_clarify_resolve", said(session, "gap-001", json!("menu"))).await;
        assert_eq!(closed.refusal(), "conflict", "a session that is closed");
    }

    /// WWA-6.2-06
    async fn an_answer_over_mcp_is_the_agents_own_and_none_to_a_persons_gap(kit) {
        let stage = Clarifying::start(kit).await;
        let (plane, agent) = (&stage.plane, &stage.agent);
        let plan = json!({ "plan_object": { "transfer": { "recipient": "ACME" } } });
        let asked = call_tool(plane, agent, "wwa_clarify_check", plan).await.given();
        let (session, gap) = (&asked["session_id"], asked["gaps"][0]["id"].as_str().unwrap());
        assert_eq!(asked["gaps"][0]["person_must_answer"], true, "{asked}");
        let told = call_tool(plane, agent, "wwa_clarify_resolve", said(session, gap, json!("savings"))).await.given();
        assert_eq!((&told["status"], &told["accepted_answer"], &told["given_by"]), (&json!("escalated"), &Value::Null, &json!("own")));
        assert!(told["page"].as_str().unwrap().contains("/inbox/"), "{told}");
        let confirmed = call_tool(plane, agent, "wwa_clarify_confirm", json!({ "session_id": session })).await.given();
        assert_eq!(confirmed["status"], "needs_clarification");
    }
}
