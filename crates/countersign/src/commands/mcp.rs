//! `countersign mcp`: the tools of a service for a client that speaks MCP over standard input and output.

use crate::{commands::plan::connection::Connection, context::Context, engine, failure::Failure};
use countersign_client::mcp::bridge;
use std::{
    io::{BufRead as _, Write as _},
    sync::Arc,
};
use tokio::sync::mpsc;

/// Serve the tools of a service over standard input and output, for agents that speak MCP
///
/// Started by the agent's own client. Every line of standard input is one message; it goes to /mcp of the service with
/// the agent's API key, and what comes back is printed. The key comes from the variable COUNTERSIGN_API_KEY or from a
/// file; `countersign key add --kind agent` makes one.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    engine::log(false, "warn");
    let mcp = arguments.connection.resolve(context)?.mcp();
    engine::runtime()?.block_on(async {
        let (tell, mut told) = mpsc::unbounded_channel();
        let bridge = tokio::spawn(bridge(Arc::new(mcp), lines(), tell));
        while let Some(message) = told.recv().await {
            if !printed(&message) {
                // Nobody reads any more. The bridge ends once it cannot tell.
                break;
            }
        }
        drop(told);
        bridge.await.map_err(|why| Failure::new(format!("the bridge broke: {why}")))
    })
}

/// One message, one line, and at once: whoever reads waits for it.
fn printed(message: &str) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush()).is_ok()
}

/// Lines of standard input. A thread of its own: a read cannot be given up, and nothing waits for it at the end.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (to, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
