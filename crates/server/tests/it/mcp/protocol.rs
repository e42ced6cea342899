//! The protocol: versions, methods, malformed messages, and the published tools.

use super::calling::{HOST, PATH, error, posted, request, result, result_of, send, send_request};
use axum::body::Body;
use countersign_testkit::{Answer, Plane, TestAgent, decisions::DecisionFixture, on_sqlite};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// Those for decisions and plans come first.
const TOOLS: [&str; 11] = [
    "request_confirmation",
    "await_decision",
    "begin_action",
    "report_outcome",
    "propose_plan",
    "plan_status",
    "report_step",
    "cancel_plan",
    "request_clarification",
    "withdraw_question",
    "list_actions",
];

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn send_text(plane: &Plane, agent: &TestAgent, text: &str, version: Option<&str>) -> Answer {
    let mut request = posted(PATH).header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
    if let Some(version) = version {
        request = request.header("mcp-protocol-version", version);
    }
    send_request(&plane.public, request.body(Body::from(text.to_owned())).unwrap()).await
}

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A request of the current version, with matching headers.
async fn current(plane: &Plane, agent: &TestAgent, method: &str, name: Option<&str>, mut params: Value) -> Answer {
    params["_meta"] = meta("2026-07-28");
    let mut built = posted(PATH)
        .header(header::AUTHORIZATION, format!("Bearer {}", agent.token))
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = name {
        built = built.header("mcp-name", name);
    }
    send_request(&plane.public, built.body(Body::from(request(method, params).to_string())).unwrap()).await
}

on_sqlite! {
    async fn a_message_that_two_readers_could_read_in_two_ways_is_read_by_none(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let twice = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"request_confirmation",
            "arguments":{"action":"Pay 82","action":"Pay 82000","consequence":"gone"}}}"#;
        let beyond = r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"n":9007199254740993}}"#;
        for text in [twice, beyond, "{", "", "\u{feff}{}", "nonsense"] {
            let answer = send_text(&plane, &agent, text, None).await;
            assert_eq!((answer.status, error(&answer)), (400, -32700), "{text}");
            assert_eq!(answer.json()["id"], Value::Null);
        }
        for text in ["[]", "5", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "{}", r#"{"jsonrpc":"1.0","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7}"#, r#"{"jsonrpc":"2.0","id":7,"method":5}"#]
        {
            let answer = send_text(&plane, &agent, text, None).await;
            assert_eq!((answer.status, error(&answer)), (400, -32600), "{text}");
        }
        let form = Request::post(PATH).header(header::HOST, HOST).header(header::CONTENT_TYPE, "text/plain");
        let form = form.header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
        let answer = send_request(&plane.public, form.body(Body::from(request("ping", json!({})).to_string())).unwrap()).await;
        assert_eq!(answer.refusal(), (415, "unsupported_media_type".into()));
    }

    async fn unknown_methods_and_tools_and_misshapen_parameters_are_errors_that_say_so(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let codes = [
            (request("no/such", json!({})), -32601),
            (request("logging/setLevel", json!({ "level": "debug" })), -32601),
            (request("resources/read", json!({ "uri": "file:///etc/passwd" })), -32601),
            (request("prompts/list", json!({})), -32601),
            (request("resources/list", json!({})), -32601),
            (request("resources/templates/list", json!({})), -32601),
            (request("tools/call", json!({ "name": "wire_money", "arguments": {} })), -32602),
            (request("tools/call", json!({ "name": 5 })), -32602),
            (request("tools/call", json!({ "name": "await_decision", "arguments": [1] })), -32602),
            (request("initialize", json!({ "protocolVersion": 5 })), -32602),
        ];
        for (message, code) in codes {
            let answer = send(&plane, &agent, &message).await;
            assert_eq!((answer.status, error(&answer)), (200, code), "{message}");
            assert!(!answer.json()["error"]["message"].as_str().unwrap().is_empty());
            assert_eq!(answer.json()["id"], 7);
        }
    }

    async fn there_is_nothing_to_get_and_no_session_to_end(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let ask = Request::builder().method(method).uri(PATH).header(header::HOST, HOST);
            let ask = ask.header(header::ACCEPT, "text/event-stream").header("mcp-session-id", "1");
            let ask = ask.header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
            let answer = send_request(&plane.public, ask.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.refusal(), (405, "method_not_allowed".into()));
            assert!(answer.header("allow").unwrap().contains("POST"));
        }
    }

    async fn every_older_version_is_agreed_on_and_an_unknown_one_is_not(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let client = json!({ "name": "older", "version": "1" });
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01"] {
            let hello = request("initialize",
                json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }));
            let answer = send(&plane, &agent, &hello).await;
            let agreed = result(&answer);
            let known = version != "2099-01-01";
            assert_eq!(agreed["protocolVersion"] == version, known, "{agreed}");
            assert_eq!(agreed["serverInfo"]["name"], "countersign");
            assert_eq!(agreed["capabilities"], json!({ "tools": {} }), "nothing is promised that is not there");
            assert!(agreed["instructions"].as_str().unwrap().contains("request_confirmation"));
            let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
            let version = known.then_some(version).filter(|version| *version > "2025-03-26");
            let answer = send_text(&plane, &agent, &told, version).await;
            assert_eq!((answer.status, answer.body.len()), (202, 0));
            let listed = send_text(&plane, &agent, &request("tools/list", json!({})).to_string(), version).await;
            assert_eq!(names(&result(&listed))[..TOOLS.len()], TOOLS);
            assert_eq!(result(&listed).get("resultType"), None, "an older peer knows none");
        }
        let odd = send_text(&plane, &agent, &request("tools/list", json!({})).to_string(), Some("2099-01-01")).await;
        assert_eq!(odd.status, 400);
    }

    async fn the_current_version_needs_no_handshake_and_its_headers_must_agree_with_the_body(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let found = result(&current(&plane, &agent, "server/discover", None, json!({})).await);
        assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
        let listed = result(&current(&plane, &agent, "tools/list", None, json!({})).await);
        assert_eq!((&listed["resultType"], &names(&listed)[..TOOLS.len()]), (&json!("complete"), &TOOLS[..]));
        assert_eq!(listed["cacheScope"], "private", "{listed}");
        let look = json!({ "name": "await_decision", "arguments": { "decision_id": "dec_0", "wait_seconds": 0 } });
        let told = result(&current(&plane, &agent, "tools/call", Some("await_decision"), look.clone()).await);
        assert_eq!(told["structuredContent"]["error"], "not_found");

        let mislabelled = current(&plane, &agent, "tools/call", Some("plan_status"), look.clone()).await;
        assert_eq!((mislabelled.status, error(&mislabelled)), (400, -32020));
        let unlabelled = current(&plane, &agent, "tools/call", None, look).await;
        assert_eq!((unlabelled.status, error(&unlabelled)), (400, -32020));
        for gone in ["no/such", "initialize", "ping", "prompts/list"] {
            let nowhere = current(&plane, &agent, gone, None, json!({})).await;
            assert_eq!((nowhere.status, error(&nowhere)), (404, -32601), "{gone}");
        }
    }

    async fn the_published_schema_of_a_tool_is_enough_to_call_it(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let listed = result_of(&plane.public, PATH, &agent, "tools/list", json!({})).await;
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(names(&listed)[..TOOLS.len()], TOOLS);
        for tool in tools {
            for member in ["title", "description"] {
                assert!(!tool[member].as_str().unwrap().is_empty(), "{tool}");
            }
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{tool}");
                jsonschema::draft202012::new(&tool[schema]).unwrap_or_else(|why| panic!("{why}: {tool}"));
                assert!(!tool[schema].to_string().contains("components/schemas"), "{tool}");
            }
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert_eq!(tool["annotations"]["destructiveHint"], false);
        }
        let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
        for (name, reads) in [("await_decision", true), ("plan_status", true), ("begin_action", false), ("request_confirmation", false)] {
            assert_eq!(of(name)["annotations"]["readOnlyHint"], reads, "{name}");
        }
        assert_eq!(of("begin_action")["annotations"]["idempotentHint"], false);
        assert_eq!(of("propose_plan")["_meta"]["countersign/generates"], true);
        assert_eq!(of("plan_status").get("_meta"), None);
        let schema = jsonschema::draft202012::new(&of("request_confirmation")["inputSchema"]).unwrap();
        assert!(schema.is_valid(&countersign_testkit::decisions::confirmation("mail.send", json!({ "to": "sam" }))));
        assert!(!schema.is_valid(&json!({ "action": "Pay" })), "consequence is needed");
        let size = listed.to_string().len();
        assert!(size < 25_000, "a model reads {size} bytes before it does anything");
    }
}
