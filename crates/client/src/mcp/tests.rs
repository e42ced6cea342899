//! The bridge against a fake service, over a transport without a network.

use super::*;
use crate::transport::Transport;
use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::json;
use std::collections::VecDeque;
use tokio::sync::{Notify, mpsc};

/// Responds by method, and keeps the received requests.
#[derive(Default)]
struct Played {
    sent: Mutex<Vec<Request>>,
    /// Notified once a request is pending that will never get a response.
    waits: Notify,
    /// Notified once its caller has hung up.
    hung_up: Arc<Notify>,
}

struct Body(VecDeque<Bytes>);

#[async_trait]
impl Chunks for Body {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Unreachable> {
        Ok(self.0.pop_front())
    }
}

struct Tells(Arc<Notify>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl Transport for Played {
    async fn send(&self, _: Request) -> Result<Response, Unreachable> {
        Err(Unreachable::NotLoopback)
    }
}

#[async_trait]
impl Streaming for Played {
    async fn open(&self, request: Request) -> Result<StreamingResponse, Unreachable> {
        let message: Value = serde_json::from_slice(&request.body).unwrap();
        self.sent.lock().unwrap().push(request);
        let id = &message["id"];
        let result = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => Ok(opened(200, "application/json", &[&result(json!({ "protocolVersion": "2025-06-18" }))])),
            "lost" => Err(FetchError::Connect.into()),
            "refused" => Ok(opened(
                401,
                "application/json",
                &[
                    r#"{"error":"access_token_invalid","error_description":"no such key","hint":"get another","request_id":"r"}"#,
                ],
            )),
            "unread" => {
                let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "twice" } });
                Ok(opened(400, "application/json", &[&error.to_string()]))
            }
            "page" => Ok(opened(200, "text/html", &["<p>hello"])),
            "streamed" => {
                let first = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
                let events =
                    format!(": hello\n\nid: 1\ndata:\n\ndata: {first}\n\ndata: {}\n\n", result(json!({ "n": 1 })));
                let (left, right) = events.split_at(40);
                Ok(opened(200, "text/event-stream", &[left, right]))
            }
            "forever" => {
                let _told_at_the_end = Tells(Arc::clone(&self.hung_up));
                self.waits.notify_one();
                std::future::pending().await
            }
            _ if id.is_null() => Ok(opened(202, "", &[])),
            _ => Ok(opened(200, "application/json", &[&result(json!({}))])),
        }
    }
}

fn opened(status: u16, kind: &str, chunks: &[&str]) -> StreamingResponse {
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_str(kind).unwrap())]);
    let body = chunks.iter().map(|chunk| Bytes::from((*chunk).to_owned())).collect();
    StreamingResponse { status: StatusCode::from_u16(status).unwrap(), headers, body: Box::new(Body(body)) }
}

struct Stdio {
    played: Arc<Played>,
    lines: mpsc::UnboundedSender<String>,
    told: mpsc::UnboundedReceiver<String>,
    bridge: tokio::task::JoinHandle<()>,
}

impl Stdio {
    fn begin() -> Self {
        let played = Arc::new(Played::default());
        let service = Origin::parse("http://localhost:8420").unwrap();
        let mcp = Arc::new(Mcp::new(&service, None, "csk_secret", Arc::clone(&played)));
        let (lines, from) = mpsc::unbounded_channel();
        let (to, told) = mpsc::unbounded_channel();
        Self { played, lines, told, bridge: tokio::spawn(bridge(mcp, from, to)) }
    }

    fn sends(&self, message: &Value) {
        self.lines.send(message.to_string()).unwrap();
    }

    async fn receives(&mut self) -> Value {
        serde_json::from_str(&self.told.recv().await.unwrap()).unwrap()
    }

    async fn requests(&mut self, method: &str) -> Value {
        self.sends(&json!({ "jsonrpc": "2.0", "id": "a", "method": method }));
        self.receives().await
    }
}

#[tokio::test]
async fn a_service_that_is_lost_refuses_or_is_another_gives_an_error_that_says_so() {
    let mut stdio = Stdio::begin();
    for (method, words) in [
        ("lost", "could not be reached"),
        ("refused", "no such key; get another"),
        ("page", "the address of a Countersign service"),
    ] {
        let told = stdio.requests(method).await;
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!("a"), &json!(-32000)), "{told}");
        assert!(told["error"]["message"].as_str().unwrap().contains(words), "{told}");
        assert!(!told.to_string().contains("csk_secret"));
    }
    let told = stdio.requests("unread").await;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!("a"), &json!(-32700)));
    stdio.lines.send("{".into()).unwrap();
    let told = stdio.receives().await;
    assert_eq!((&told["id"], &told["error"]["code"]), (&Value::Null, &json!(-32700)));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_stays_silent_is_given_up() {
    let mut stdio = Stdio::begin();
    let told = stdio.requests("forever").await;
    assert!(told["error"]["message"].as_str().unwrap().contains("could not be reached"), "{told}");
}

#[tokio::test]
async fn every_message_goes_out_unchanged_and_its_response_is_returned() {
    let mut stdio = Stdio::begin();
    let odd = r#"{"jsonrpc":"2.0", "id":1,"method":"x","method":"tools/list"}"#;
    stdio.lines.send(odd.into()).unwrap();
    assert_eq!(stdio.receives().await["id"], 1);
    assert_eq!(
        stdio.played.sent.lock().unwrap()[0].body,
        odd.as_bytes(),
        "what stands twice is the service's to refuse"
    );

    stdio.sends(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(stdio.requests("streamed").await["method"], "notifications/progress");
    assert_eq!(stdio.receives().await["result"], json!({ "n": 1 }));
    drop(stdio.lines);
    stdio.bridge.await.unwrap();
    assert!(stdio.told.recv().await.is_none(), "a notification has no answer");
    let sent = stdio.played.sent.lock().unwrap();
    assert_eq!(sent[1].headers[header::AUTHORIZATION], "Bearer csk_secret");
    assert_eq!(sent[1].url, "http://localhost:8420/mcp");
}

#[tokio::test]
async fn a_cancelled_request_is_hung_up_on_and_others_go_on_meanwhile() {
    let mut stdio = Stdio::begin();
    stdio.sends(&json!({ "jsonrpc": "2.0", "id": 5, "method": "forever" }));
    stdio.played.waits.notified().await;
    assert_eq!(stdio.requests("tools/list").await["id"], "a", "one does not wait for the other");
    stdio.sends(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } }));
    stdio.played.hung_up.notified().await;
    assert_eq!(stdio.requests("tools/list").await["id"], "a", "and nothing is said of the other");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_its_input_or_of_its_listeners_ends_it_also_with_pending_work() {
    let stdio = Stdio::begin();
    stdio.sends(&json!({ "jsonrpc": "2.0", "id": 5, "method": "forever" }));
    stdio.played.waits.notified().await;
    drop(stdio.lines);
    stdio.bridge.await.unwrap();
    let stdio = Stdio::begin();
    drop(stdio.told);
    stdio.bridge.await.unwrap();
}

#[tokio::test]
async fn a_message_is_labelled_as_its_version_wants_it() {
    let mut stdio = Stdio::begin();
    let label = |stdio: &Stdio, name: &str| {
        let sent = stdio.played.sent.lock().unwrap();
        sent.last().unwrap().headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    stdio.requests("tools/list").await;
    assert_eq!(label(&stdio, "mcp-protocol-version"), None, "nothing is agreed on yet");
    stdio.requests("initialize").await;
    stdio.requests("tools/list").await;
    assert_eq!(label(&stdio, "mcp-protocol-version").as_deref(), Some("2025-06-18"));
    assert_eq!(label(&stdio, "mcp-method"), None);
    for (name, labelled) in
        [("await_decision", "await_decision"), ("zahlen für", "=?base64?emFobGVuIGbDvHI=?="), (" x", "=?base64?IHg=?=")]
    {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        stdio.sends(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "_meta": meta } }),
        );
        stdio.receives().await;
        assert_eq!(label(&stdio, "mcp-protocol-version").as_deref(), Some("2026-07-28"));
        assert_eq!(label(&stdio, "mcp-method").as_deref(), Some("tools/call"));
        assert_eq!(label(&stdio, "mcp-name").as_deref(), Some(labelled));
    }
}
