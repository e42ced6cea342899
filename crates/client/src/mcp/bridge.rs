//! Bridges an MCP client on standard input and output to requests.

use super::{Mcp, McpMessage};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender},
    task::{AbortHandle, JoinSet},
};

/// How long to wait for responses after the input has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Forwards every line and returns the responses, concurrently, until the input ends. A request that its client cancels
/// is aborted, so that the service stops as well.
pub async fn bridge(mcp: Arc<Mcp>, mut lines: UnboundedReceiver<String>, tell: UnboundedSender<String>) {
    let mut under_way = UnderWay { mcp, tell, tasks: JoinSet::new(), by_id: HashMap::new() };
    while let Some(line) = under_way.next(&mut lines).await {
        if !line.trim().is_empty() {
            under_way.handle_line(&line);
        }
    }
    let last = async { while under_way.tasks.join_next().await.is_some() {} };
    let _cut_off = tokio::time::timeout(LAST_WORDS, last).await;
}

struct UnderWay {
    mcp: Arc<Mcp>,
    tell: UnboundedSender<String>,
    /// Each yields the id of its request.
    tasks: JoinSet<Option<String>>,
    by_id: HashMap<String, AbortHandle>,
}

impl UnderWay {
    /// The next line; forgets finished requests meanwhile. None if the output is closed.
    async fn next(&mut self, lines: &mut UnboundedReceiver<String>) -> Option<String> {
        loop {
            tokio::select! {
                line = lines.recv() => return line,
                () = self.tell.closed() => return None,
                Some(ended) = self.tasks.join_next() => {
                    if let Ok(Some(id)) = ended {
                        self.by_id.remove(&id);
                    }
                }
            }
        }
    }

    fn handle_line(&mut self, line: &str) {
        let message = match McpMessage::read(line) {
            Ok(message) => message,
            Err(why) => return self.report_parse_error(&why),
        };
        if message.method() == "notifications/cancelled"
            && let Some(id) = message.params().and_then(|params| params.get("requestId"))
        {
            self.cancel(id);
        }
        let id = message.id().map(Value::to_string);
        let (mcp, tell) = (Arc::clone(&self.mcp), self.tell.clone());
        let of_task = id.clone();
        let task = self.tasks.spawn(async move {
            deliver(&mcp, &message, &tell).await;
            of_task
        });
        self.by_id.extend(id.map(|id| (id, task)));
    }

    fn cancel(&mut self, id: &Value) {
        if let Some(task) = self.by_id.remove(&id.to_string()) {
            task.abort();
        }
    }

    fn report_parse_error(&self, why: &serde_json::Error) {
        let error = json!({ "code": -32700, "message": format!("the line is no JSON: {why}") });
        let _nobody_listens = self.tell.send(json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string());
    }
}

/// A request always gets a response; a lost notification has no receiver to inform.
async fn deliver(mcp: &Mcp, message: &McpMessage, tell: &UnboundedSender<String>) {
    let say = |told: Value| drop(tell.send(told.to_string()));
    if let Err(why) = mcp.send(message, say).await {
        message.error_response(&why).into_iter().for_each(say);
    }
}
