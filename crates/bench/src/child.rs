//! The server of a benchmark in a process of its own: a whole plane on a loopback port.

use crate::{
    StoreKind, calls,
    decisions::{self, Scenario},
    gateway::postmaster,
    register,
    rounds::Meter,
};
use anyhow::Context as _;
use axum::Router;
use countersign_engine::store::{PostgresLocation, StoreLocation};
use countersign_server::{Limits, serve};
use countersign_testkit::postgres;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
};
use tokio::net::TcpListener;

/// The part of a server in a benchmark.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerTask {
    Register,
    Calls,
    Decisions(Scenario),
}

#[derive(clap::Args)]
pub(crate) struct ServerPart {
    #[arg(value_enum)]
    store: StoreKind,
    /// As JSON.
    task: String,
}

pub(crate) async fn run(part: ServerPart) -> anyhow::Result<()> {
    match serde_json::from_str(&part.task)? {
        ServerTask::Register => register::serve(part.store).await,
        ServerTask::Calls => calls::serve(part.store).await,
        ServerTask::Decisions(scenario) => decisions::serve(part.store, scenario).await,
    }
}

/// A server in a process of its own, until dropped.
pub(crate) struct ServerProcess<T> {
    process: Child,
    database: Vec<u32>,
    pub(crate) address: String,
    /// For the generator.
    pub(crate) told: T,
}

#[derive(Serialize, Deserialize)]
struct Announcement<T> {
    address: String,
    database: Vec<u32>,
    told: T,
}

impl<T: DeserializeOwned> ServerProcess<T> {
    pub(crate) fn start(store: StoreKind, task: ServerTask) -> anyhow::Result<Self> {
        Self::start_under(&[], store, task)
    }

    /// The same under another program, if one is given.
    pub(crate) fn start_under(under: &[&str], store: StoreKind, task: ServerTask) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let mut command = match under {
            [] => Command::new(program),
            [first, more @ ..] => {
                let mut command = Command::new(first);
                command.args(more).arg(program);
                command
            }
        };
        let store = format!("{store:?}").to_lowercase();
        command.args(["server-part", &store, &serde_json::to_string(&task)?]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let Announcement { address, database, told } =
            serde_json::from_str(&line).context("the server of the benchmark did not start")?;
        Ok(Self { process, database, address, told })
    }
}

impl<T> ServerProcess<T> {
    pub(crate) fn meter(&self) -> Meter {
        Meter::start(self.process.id(), &self.database)
    }

    /// What it has given the file system to write, as a number of bytes.
    pub(crate) fn written_bytes(&self) -> anyhow::Result<f64> {
        let said = std::fs::read_to_string(format!("/proc/{}/io", self.process.id()))?;
        let count = said.lines().find_map(|line| line.strip_prefix("write_bytes: ")).context("nothing is counted")?;
        Ok(count.trim().parse()?)
    }
}

impl<T> Drop for ServerProcess<T> {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
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

/// Serves, prints the address and `told` as one line, and ends the process when its input closes.
pub(crate) async fn serve_until_closed(
    router: Router,
    (place, folder): (&StoreLocation, PathBuf),
    told: impl Serialize,
) -> anyhow::Result<()> {
    let database = match place {
        StoreLocation::Postgres(place) => vec![postmaster(&place.url).await?],
        _ => Vec::new(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let limits = Limits { max_connections: 4096, max_connections_per_address: 4096, ..Limits::default() };
    let serving = serve(listener, router, limits)?;
    let line = Announcement { address: serving.address().to_string(), database, told };
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string(&line)?)?;
    out.flush()?;
    tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin())).await??;
    let _removed = std::fs::remove_dir_all(&folder);
    std::process::exit(0)
}
