//! `countersign witness serve`: a witness of transparency logs, for a second machine.

use crate::{context::Context, engine, failure::Failure, stop::Stop};
use clap::Subcommand;
use countersign_server::{
    Limits, serve,
    witness::{WitnessState, router},
};
use std::{net::SocketAddr, path::PathBuf, sync::Arc};
use tokio::net::TcpListener;

/// Cosign the checkpoints of other installations' evidence
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a witness until Ctrl-C or SIGTERM. Put a TLS proxy in front of it, and its verifier key into evidence.witnesses
    Serve(Arguments),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8430")]
    listen: SocketAddr,
    /// The folder with the witness's key and what it has seen. Never restore it from a backup: a witness that forgets is none
    #[arg(long, value_name = "FOLDER", default_value = "witness")]
    state: PathBuf,
    /// The witness's name, such as witness.example/w1
    #[arg(long)]
    name: String,
    /// A verifier key of a log to watch, from its /evidence/keys; may be repeated
    #[arg(long = "log", value_name = "VERIFIER KEY", required = true)]
    logs: Vec<String>,
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    let Command::Serve(arguments) = command;
    engine::log(false, "info");
    engine::runtime()?.block_on(serve_until_stopped(arguments, context))
}

async fn serve_until_stopped(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let mut stop = Stop::listen()?;
    let Arguments { listen, state, name, logs } = arguments;
    let failed = |why: &dyn std::fmt::Display| Failure::new(format!("the witness cannot serve: {why}"));
    let state = WitnessState::start(&state, &name, &logs).map_err(|why| failed(&why))?;
    let key = state.verifier_key();
    let listener = TcpListener::bind(listen).await.map_err(|why| failed(&why))?;
    let served = serve(listener, router(Arc::new(state)), Limits::default()).map_err(|why| failed(&why))?;
    context.say(&format!("witness at {}\nverifier key: {key}\nstop it with Ctrl-C or SIGTERM\n", served.address()))?;
    stop.asked().await;
    served.stop().await;
    Ok(())
}
