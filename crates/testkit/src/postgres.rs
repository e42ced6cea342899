//! A throw-away PostgreSQL for one test process, and a database of its own for each test.
//!
//! Most tests get a copy of one migrated database: that takes a fraction of the time of migrating again. The cluster is
//! started with the first requested database. A small shell keeps it running and holds the other end of a pipe to this
//! process: when this process ends, however it ends, the pipe closes, and the shell stops the server and removes its
//! folder.

#![allow(clippy::expect_used, reason = "a test that cannot have its database fails here, saying why")]

use countersign_engine::store::{self, PostgresLocation, StoreLocation, StoreOptions};
use countersign_protocol::time::UnixMillis;
use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};
use tokio::sync::OnceCell;
use tokio_postgres::{NoTls, SimpleQueryMessage, SimpleQueryRow};

/// The URL of a new, empty database.
pub async fn fresh_database() -> String {
    created(None).await
}

/// The URL of a new database with all migrations, which no node has used yet.
pub async fn migrated_database() -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let template = TEMPLATE.get_or_init(migrated_template).await;
    created(Some(template)).await
}

async fn created(template: Option<&str>) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let port = tokio::task::spawn_blocking(|| cluster().port).await;
    let server = format!("postgres://postgres@127.0.0.1:{}", port.expect("PostgreSQL for tests could not be started"));
    let (name, template) = (format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed)), template.unwrap_or("template1"));
    run(&format!("{server}/postgres"), &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    format!("{server}/{name}")
}

/// The name of the template database. It never has connections: PostgreSQL does not copy a database in use.
async fn migrated_template() -> String {
    let url = fresh_database().await;
    let (server, name) = url.rsplit_once('/').expect("a database's name");
    let place = StoreLocation::Postgres(PostgresLocation::new(&url));
    let store = store::open(StoreOptions { readers: 1, place, clock: Arc::new(|| UnixMillis(0)) }).await;
    store.expect("an empty database can be migrated").close().await;
    run(&url, "TRUNCATE lanes, audit_progress").await;
    let no_more = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS false; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    );
    run(&format!("{server}/postgres"), &no_more).await;
    name.to_owned()
}

/// A copy of another database, which must have no connections.
pub async fn copy_of(url: &str) -> String {
    let (server, name) = url.rsplit_once('/').expect("a database's name");
    let copy = format!("{name}_{}", COPIES.fetch_add(1, Ordering::Relaxed));
    run(&format!("{server}/postgres"), &format!("CREATE DATABASE {copy} TEMPLATE {name}")).await;
    format!("{server}/{copy}")
}

static COPIES: AtomicU32 = AtomicU32::new(0);

/// A database on a cluster that really syncs, for benchmarks. Must be requested before any other database of the
/// process.
pub async fn fresh_durable_database() -> String {
    DURABLE.store(true, Ordering::SeqCst);
    fresh_database().await
}

/// Tests need no durability; a benchmark without it would be meaningless.
static DURABLE: AtomicBool = AtomicBool::new(false);

/// Restarts the cluster, `fast` or `immediate`: every connection breaks, and after `immediate` it recovers from its log.
pub async fn restart(mode: &str) {
    let mode = mode.to_owned();
    let restart = move || {
        let script = "cd \"$FOLDER\" && exec \"$PROGRAMS/pg_ctl\" --pgdata data --log log --mode \"$MODE\" --wait --timeout 60 \
                      --silent restart < /dev/null > /dev/null";
        let mut command = shell();
        command.args(["-c", script]).env("FOLDER", &cluster().folder).env("PROGRAMS", programs()).env("MODE", mode);
        finish(&mut command)
    };
    tokio::task::spawn_blocking(restart).await.expect("PostgreSQL could not be restarted");
}

/// The same URL with the name in the server's certificate, and TLS required.
pub fn over_tls(url: &str) -> String {
    format!("{}?sslmode=verify-full", url.replace("127.0.0.1", "localhost"))
}

/// The root certificate of the server.
pub fn root_certificate() -> PathBuf {
    cluster().folder.join("server.crt")
}

/// Sets the store's clock to `millis` (R-21).
pub async fn set_clock(url: &str, millis: i64) {
    let sql = format!(
        "CREATE OR REPLACE FUNCTION countersign_now() RETURNS BIGINT LANGUAGE sql VOLATILE \
         AS 'SELECT CAST({millis} AS BIGINT)'"
    );
    run(url, &sql).await;
}

/// Runs SQL beside the store under test; returns one line per row, columns separated by `|`.
pub async fn run(url: &str, sql: &str) -> String {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection of the test");
    let connected = tokio::spawn(connection);
    let messages = client.simple_query(sql).await.expect("the SQL of the test failed");
    drop(client);
    // The server counts a connection until it is closed, and copies no database with one.
    let _closed = connected.await;
    let line = |row: &SimpleQueryRow| {
        let columns = (0..row.len()).map(|column| row.get(column).unwrap_or_default());
        columns.collect::<Vec<_>>().join("|") + "\n"
    };
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(line(row)),
        _ => None,
    });
    rows.collect()
}

/// Everything in a database, as text, with bytes as hex.
pub async fn dump(url: &str) -> Vec<u8> {
    let url = url.to_owned();
    let pg_dump = move || {
        let output = Command::new(programs().join("pg_dump")).arg(url).output().expect("pg_dump");
        assert!(output.status.success(), "pg_dump: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    tokio::task::spawn_blocking(pg_dump).await.expect("the database could not be dumped")
}

struct Cluster {
    port: u16,
    folder: PathBuf,
    /// Holds the pipe; closing it stops the server.
    _keeper: Child,
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

/// Prints its folder once the server answers, then waits for its input to end.
const KEEPER: &str = r#"
    trap '' INT HUP TERM
    umask 077
    folder=$(mktemp -d) && cd "$folder" || exit 1
    printf '%s\n' "$CERTIFICATE" > server.crt && printf '%s\n' "$CERTIFICATE_KEY" > server.key
    "$PROGRAMS/initdb" --pgdata data --username postgres --auth trust --encoding UTF8 --no-locale --no-sync > log 2>&1 \
        && "$PROGRAMS/pg_ctl" --pgdata data --log log --wait --timeout 60 --silent --options "-p $PORT -k $folder \
            -c listen_addresses=127.0.0.1 -c max_connections=300 -c autovacuum=$SYNC -c fsync=$SYNC -c full_page_writes=$SYNC \
            -c ssl=on -c ssl_cert_file=$folder/server.crt -c ssl_key_file=$folder/server.key" start \
        && printf '%s\n' "$folder" || cat log >&2
    read -r _
    "$PROGRAMS/pg_ctl" --pgdata data --mode immediate --silent stop
    cd / && rm -rf "$folder"
"#;

impl Cluster {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("no free port on 127.0.0.1").port();
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a test certificate");
        let mut keeper = shell()
            .args(["-c", KEEPER])
            .env("PROGRAMS", programs())
            .env("PORT", port.to_string())
            .env("SYNC", if DURABLE.load(Ordering::SeqCst) { "on" } else { "off" })
            .env("CERTIFICATE", certified.cert.pem())
            .env("CERTIFICATE_KEY", certified.signing_key.serialize_pem())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell for PostgreSQL");
        let mut folder = String::new();
        BufReader::new(keeper.stdout.take().expect("the keeper's output")).read_line(&mut folder).expect("its folder");
        assert!(!folder.is_empty(), "PostgreSQL did not start; its log is above");
        Self { port, folder: folder.trim().into(), _keeper: keeper }
    }
}

fn finish(command: &mut Command) -> String {
    let output = command.output().expect("a program of PostgreSQL");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8 from PostgreSQL")
}

/// PostgreSQL refuses to be run by root; its package brings a user for it.
fn shell() -> Command {
    let root = std::fs::metadata("/proc/self").is_ok_and(|us| std::os::unix::fs::MetadataExt::uid(&us) == 0);
    if !root {
        return Command::new("sh");
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--", "sh"]);
    command
}

/// The directory in which Debian installs the newest version's programs.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .max_by_key(|bin| bin.parent().and_then(Path::file_name).and_then(|v| v.to_string_lossy().parse::<u32>().ok()));
    newest.expect("these tests need PostgreSQL: install the Debian package `postgresql`")
}
