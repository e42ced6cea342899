//! `countersign mcp`: a service's tools for clients that speak MCP over standard input and output.

use crate::{commands::plan::connection::Connection, context::Context, engine, failure::Failure};
use countersign_client::mcp::bridge;
use std::{
    io::{BufRead as _, Write as _},
    sync::Arc,
};
use tokio::sync::mpsc;

/// Serve the tools of a service over standard input and output, for agents that speak MCP
///
/// Started by the agent's own client. Every line of standard input is one message; it is sent to /mcp of the service
/// with the agent's API key, and the response is printed. The key comes from the variable COUNTERSIGN_API_KEY or from a
/// file; `countersign key add --kind agent` creates one.
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
                // Standard output is closed. The bridge ends once it cannot send.
                break;
            }
        }
        drop(told);
        bridge.await.map_err(|why| Failure::new(format!("the bridge broke: {why}")))
    })
}

/// Prints one message per line and flushes at once, because the client is waiting for it.
fn printed(message: &str) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush()).is_ok()
}

/// Lines of standard input. Read in a separate thread: a read cannot be cancelled, and shutdown does not wait for it.
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
