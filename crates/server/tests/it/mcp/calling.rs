//! Messages and tool calls as an agent sends them. Every result of a tool is validated against its published schema.

use axum::{Router, body::Body, extract::ConnectInfo};
use countersign_testkit::{Answer, Plane, TestAgent};
use http::{Method, Request, header};
use serde_json::{Value, json};
use std::net::SocketAddr;

pub(crate) const PATH: &str = "/mcp";
/// The host of the usual plane.
pub(crate) const HOST: &str = "api.example.test";

/// The result of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) content: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Told {
    /// Its content; fails on a refusal.
    pub(crate) fn given(self) -> Value {
        assert!(!self.is_error, "refused: {}", self.text);
        self.content
    }

    /// The code of its refusal; fails on a success.
    pub(crate) fn refusal(&self) -> String {
        assert!(self.is_error, "not refused: {}", self.text);
        self.content["error"].as_str().unwrap_or_else(|| panic!("no envelope: {}", self.content)).to_owned()
    }
}

/// Calls a tool at the unscoped path.
pub(crate) async fn call_tool(plane: &Plane, agent: &TestAgent, tool: &str, arguments: Value) -> Told {
    call_tool_at(&plane.public, PATH, agent, tool, arguments).await
}

/// The same through the router of any node, at any path.
pub(crate) async fn call_tool_at(node: &Router, path: &str, agent: &TestAgent, tool: &str, arguments: Value) -> Told {
    let params = json!({ "name": tool, "arguments": arguments });
    let result = result(&send_at(node, path, agent, &request("tools/call", params)).await);
    let told = told(&result);
    let tools = result_of(node, path, agent, "tools/list", json!({})).await["tools"].clone();
    holds_to_its_schema(&tools, tool, &told);
    told
}

pub(crate) fn told(result: &Value) -> Told {
    let [block] = &result["content"].as_array().unwrap()[..] else { panic!("not one block: {result}") };
    assert_eq!(block["type"], "text");
    Told {
        content: result["structuredContent"].clone(),
        text: block["text"].as_str().unwrap().to_owned(),
        is_error: result["isError"].as_bool().unwrap(),
    }
}

fn holds_to_its_schema(tools: &Value, tool: &str, told: &Told) {
    let tool = tools.as_array().unwrap().iter().find(|listed| listed["name"] == tool).unwrap();
    let schema = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
    let found: Vec<String> = schema.iter_errors(&told.content).map(|why| why.to_string()).collect();
    assert!(found.is_empty(), "not as it promises: {found:?}\n{}", told.content);
    if told.is_error {
        for member in ["error", "error_description", "hint"] {
            let said = told.content[member].as_str().unwrap_or_else(|| panic!("no {member}: {}", told.content));
            assert!(told.text.contains(said), "{said:?} is not in {:?}", told.text);
        }
    } else {
        assert_eq!(serde_json::from_str::<Value>(&told.text).unwrap(), told.content, "two forms of two things");
    }
}

/// The result of any method.
pub(crate) async fn result_of(node: &Router, path: &str, agent: &TestAgent, method: &str, params: Value) -> Value {
    result(&send_at(node, path, agent, &request(method, params)).await)
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

pub(crate) fn result(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let message = answer.json();
    assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(7)));
    message.get("result").unwrap_or_else(|| panic!("no result: {message}")).clone()
}

/// The code of a JSON-RPC error.
pub(crate) fn error(answer: &Answer) -> i64 {
    answer.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", answer.text()))
}

pub(crate) async fn send(plane: &Plane, agent: &TestAgent, message: &Value) -> Answer {
    send_at(&plane.public, PATH, agent, message).await
}

pub(crate) async fn send_at(node: &Router, path: &str, agent: &TestAgent, message: &Value) -> Answer {
    let request = posted(path).header(header::AUTHORIZATION, format!("Bearer {}", agent.token));
    send_request(node, request.body(Body::from(message.to_string())).unwrap()).await
}

/// A POST to the right host, without credentials.
pub(crate) fn posted(path: &str) -> http::request::Builder {
    Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, HOST)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
}

/// As from another machine. A JSON-RPC error is no envelope, so the envelope is not checked here.
pub(crate) async fn send_request(node: &Router, mut request: Request<Body>) -> Answer {
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 40000))));
    Answer::to(node, request).await
}
