//! A node in a process of its own, killed on drop.

use super::story::{Acknowledged, WHOLE};
use countersign_engine::store::{PostgresLocation, StoreLocation};
use countersign_protocol::time::UnixMillis;
use countersign_server::{Limits, serve};
use countersign_testkit::{
    Backend, Kit, Plane, Setup,
    bank::{BankFixture, GATEWAY, GatewayListener},
    faulty_store::CrashPoint,
};
use serde::{Deserialize, Serialize};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::net::TcpListener;

/// The environment variable with the orders of a process that is to be a node.
const ORDERS: &str = "COUNTERSIGN_TEST_NODE";
/// Keeps its ids apart from those of other nodes.
const SEED: u64 = 1_000_000;

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    database: Database,
    now: i64,
    crash: Option<CrashPoint>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Database {
    File(PathBuf),
    Postgres(String),
}

/// Its listening addresses.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct NodeAddresses {
    pub(super) gateway: SocketAddr,
    /// The plane's own endpoints and pages.
    pub(super) plane: SocketAddr,
}

pub(super) struct Process {
    child: Child,
    pub(super) addresses: NodeAddresses,
}

impl Process {
    /// A node on the database of a plane, at the same moment. None if it was killed before it served.
    pub(super) async fn start(plane: &Plane, crash: Option<CrashPoint>) -> Option<Self> {
        let database = match &plane.place {
            StoreLocation::File(path) => Database::File(path.clone()),
            StoreLocation::Postgres(place) => Database::Postgres(place.url.clone()),
            StoreLocation::Temporary => panic!("a database that lasts"),
        };
        let orders = serde_json::to_string(&Orders { database, now: plane.now().0, crash }).unwrap();
        tokio::task::spawn_blocking(move || Self::spawn(&orders)).await.expect("a process")
    }

    fn spawn(orders: &str) -> Option<Self> {
        let us = std::env::current_exe().expect("this test binary");
        let name = concat!(module_path!(), "::the_story_runs_to_its_end");
        let name = name.split_once("::").expect("a path").1;
        let mut command = Command::new(us);
        command.args(["--exact", name, "--nocapture"]).env(ORDERS, orders);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
        let said = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let addresses = said.into_iter().find_map(|line| serde_json::from_str(&line).ok());
        match addresses {
            Some(addresses) => Some(Self { child, addresses }),
            None => {
                let status = child.wait().expect("its end");
                assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
                None
            }
        }
    }

    /// Whether it was killed at its crash point.
    pub(super) fn is_gone(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_some()
    }

    /// Sends SIGKILL, and waits for the exit.
    pub(super) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _dead_already = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

///
///
/// Alone it plays the whole story at a process; with the orders of another process it is that process's node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_story_runs_to_its_end() {
    if let Some(orders) = orders() {
        return run(orders).await;
    }
    let (fixture, _folder) = BankFixture::lasting(Kit(Backend::Sqlite), |_| {}).await;
    fixture.plane.engine.store().close().await;
    let told = Acknowledged::at_a_process(&fixture, &WHOLE, None, None).await;
    assert_eq!((told.in_doubt, fixture.bank.effects().len()), (None, 1));
}

#[expect(clippy::disallowed_methods, reason = "what a process of ours is started for is said by its environment")]
fn orders() -> Option<Orders> {
    let orders = std::env::var(ORDERS).ok()?;
    Some(serde_json::from_str(&orders).expect("orders"))
}

/// Serves until it is killed, or its parent is gone.
async fn run(orders: Orders) {
    let place = match orders.database {
        Database::File(path) => StoreLocation::File(path),
        Database::Postgres(url) => StoreLocation::Postgres(PostgresLocation::new(url)),
    };
    let crash = orders.crash;
    let setup = Setup {
        projects: Vec::new(),
        operators: Vec::new(),
        gateway: Some(GATEWAY.into()),
        now: UnixMillis(orders.now),
        seed: SEED,
        wrap_store: Arc::new(move |store| CrashPoint::wrap(crash, store)),
        ..Setup::default()
    };
    let plane = Plane::resume(setup, place).await;
    let gateway = GatewayListener::open(&plane.engine, |_| {}).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = serve(listener, plane.public.clone(), Limits::default()).unwrap();
    let engine = Arc::clone(&plane.engine);
    tokio::spawn(async move {
        let mut every = tokio::time::interval(Duration::from_millis(20));
        loop {
            every.tick().await;
            let _later = engine.calls().send_queued().await;
        }
    });
    announce(&NodeAddresses { gateway: gateway.address, plane: own.address() });
    let orphaned = || std::io::stdin().read_to_end(&mut Vec::new());
    tokio::task::spawn_blocking(orphaned).await.unwrap().unwrap();
}

/// Writes at once, past the test harness's capture of output.
fn announce(addresses: &NodeAddresses) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{}\n", serde_json::to_string(addresses).unwrap()).as_bytes()).unwrap();
    out.flush().unwrap();
}
