//! The server of a benchmark in a process of its own: a whole plane on a loopback port, with all requests signed ahead.

use crate::{Benchmark, StoreKind};
use anyhow::Context as _;
use countersign_engine::store::{PostgresLocation, StoreLocation};
use countersign_protocol::hash::Digest;
use countersign_server::{Limits, serve};
use countersign_testkit::{Connected, Plane, Setup, postgres};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
};
use tokio::net::TcpListener;

const AGENTS: usize = 500;
const JWTS: usize = 40_000;

/// A server in a process of its own, until dropped.
pub(crate) struct ServerProcess(Child);

impl ServerProcess {
    /// Runs this program with these arguments; returns the first line of its output.
    pub(crate) fn start<T: DeserializeOwned>(arguments: &[&str]) -> anyhow::Result<(Self, T)> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let ready = serde_json::from_str(&line).context("the server of the benchmark did not start")?;
        Ok((Self(child), ready))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

/// The database of this process, and its folder.
pub(crate) async fn database(store: StoreKind) -> anyhow::Result<(StoreLocation, PathBuf)> {
    let folder = std::env::temp_dir().join(format!("countersign-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let place = match store {
        StoreKind::Sqlite => StoreLocation::File(folder.join("bench.db")),
        StoreKind::Postgres => StoreLocation::Postgres(PostgresLocation::new(postgres::fresh_durable_database().await)),
    };
    Ok((place, folder))
}

/// Prints one line for the parent process, and waits until it closes the input.
pub(crate) async fn ready(line: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string(line)?)?;
    out.flush()?;
    tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin())).await??;
    Ok(())
}

/// Prepares the plane, prints its address and the requests as one JSON line, and serves until its input closes.
pub(crate) async fn run(what: Benchmark, store: StoreKind) -> anyhow::Result<()> {
    let (place, folder) = database(store).await?;
    let plane = Plane::start(Setup::default(), place).await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
    let (router, path, requests) = match what {
        Benchmark::Register => (plane.public.clone(), "/agent/register", register_bodies(&plane, &connected)),
        Benchmark::Calls | Benchmark::Decisions => (plane.api(), "/calendar/events", tokens(&plane, &connected).await),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let serving = serve(listener, router, Limits::default())?;
    ready(&json!({ "address": serving.address().to_string(), "path": path, "requests": requests })).await?;
    serving.stop().await;
    let _removed = std::fs::remove_dir_all(&folder);
    Ok(())
}

/// Each has a fresh operator JWT and a fresh receipt, so that every signature must be checked; a few hundred sessions.
fn register_bodies(plane: &Plane, connected: &Connected) -> Vec<String> {
    let acme = plane.acme();
    let body = |n: usize| {
        let mut jwt = acme.claims(plane.service(), plane.now());
        jwt["jti"] = json!(n);
        let mut receipt = plane.receipt_claims(acme, "alice", connected, &["calendar.read"]);
        receipt["session_id"] = json!(format!("sess_{}", Digest::of(&(n % AGENTS).to_be_bytes()).hex()));
        receipt["jti"] = json!(n);
        json!({
            "mode": "user_delegated",
            "operator_jwt": acme.sign_operator(&jwt),
            "delegation_token": connected.delegation_token,
            "consent_receipt": acme.sign_receipt(&receipt),
        })
        .to_string()
    };
    (0..JWTS).map(body).collect()
}

/// Token, session and delegation of each agent.
async fn tokens(plane: &Plane, connected: &Connected) -> Vec<String> {
    let mut tokens = Vec::new();
    for _ in 0..AGENTS {
        let agent = plane.register(plane.acme(), connected).await;
        tokens.push(format!("{} {} {}", agent.access_token, agent.session_id, connected.delegation_id));
    }
    tokens
}
