//! Rows read directly from the database, past the store: an oracle for the store, and a way to tamper.

use crate::{Kit, Plane, Setup, bank::BankFixture, leaks::Folder, postgres};
use countersign_engine::store::StoreLocation;
use countersign_protocol::hash::Digest;
use std::path::PathBuf;

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    pub project: i64,
    pub lane: i64,
    pub pos: i64,
    pub seq: i64,
    pub event_type: String,
    pub leaf: Vec<u8>,
    pub hash: Digest,
    pub openings: Option<String>,
}

impl Kit {
    /// A plane with a database that outlives it and can be read from outside. Keep the folder as long as the plane.
    pub async fn lasting_plane(self, setup: Setup) -> (Plane, Folder) {
        let (place, folder) = self.readable_location().await;
        (Plane::start(setup, place).await, folder)
    }
}

const IN_SQLITE: &str = "SELECT e.project, e.lane, e.pos, e.seq, e.event_type, e.leaf, e.hash, o.openings FROM evidence e \
     LEFT JOIN evidence_openings o ON o.lane = e.lane AND o.pos = e.pos ORDER BY e.lane, e.pos";

/// Bytes and texts as hex, so that no separator can occur in them.
const IN_POSTGRES: &str = "SELECT e.project, e.lane, e.pos, e.seq, e.event_type, encode(e.leaf, 'hex'), \
     encode(e.hash, 'hex'), encode(convert_to(o.openings, 'UTF8'), 'hex') FROM evidence e \
     LEFT JOIN evidence_openings o ON o.lane = e.lane AND o.pos = e.pos ORDER BY e.lane, e.pos";

/// Everything in the log, listed in the audit or not, by lane and position.
pub async fn stored_evidence(place: &StoreLocation) -> Vec<StoredEntry> {
    let entry = |row: &rusqlite::Row<'_>| {
        Ok(StoredEntry {
            project: row.get(0)?,
            lane: row.get(1)?,
            pos: row.get(2)?,
            seq: row.get(3)?,
            event_type: row.get(4)?,
            leaf: row.get(5)?,
            hash: Digest(row.get(6)?),
            openings: row.get(7)?,
        })
    };
    rows(place, [IN_SQLITE, IN_POSTGRES], entry, from_line).await
}

/// Every link of every clarification chain, as stored.
pub async fn chain_in_store(place: &StoreLocation) -> Vec<String> {
    documents(place, "SELECT doc FROM clarification_entries ORDER BY session, position").await
}

/// Replaces a text in every link of a chain; the plane must not be running.
pub async fn rewrite_chain(place: &StoreLocation, from: &str, to: &str) {
    let sql = format!("UPDATE clarification_entries SET doc = replace(doc, '{from}', '{to}')");
    match place {
        StoreLocation::File(path) => {
            let changed = in_sqlite(path.clone(), move |store| store.execute(&sql, []).expect("a change")).await;
            assert_ne!(changed, 0);
        }
        StoreLocation::Postgres(place) => drop(postgres::run(&place.url, &sql).await),
        StoreLocation::Temporary => panic!("only a lasting plane's rows can be changed from outside"),
    }
}

/// Runs a change past the store, as a writer of the database could, and returns the number of changed rows. For statements
/// that both databases know.
pub async fn tamper(place: &StoreLocation, sql: &str) -> usize {
    let sql = sql.to_owned();
    match place {
        StoreLocation::File(path) => {
            in_sqlite(path.clone(), move |store| {
                store.busy_timeout(std::time::Duration::from_secs(5)).expect("a timeout");
                store.execute(&sql, []).expect("a change")
            })
            .await
        }
        StoreLocation::Postgres(place) => {
            let counted = format!("WITH changed AS ({sql} RETURNING 1) SELECT count(*) FROM changed");
            postgres::run(&place.url, &counted).await.trim().parse().expect("a number of rows")
        }
        StoreLocation::Temporary => panic!("only a lasting plane's rows can be changed from outside"),
    }
}

impl BankFixture {
    /// Everything that a call could commit beside its entry and its proof: questions, approvals, executions, counters and
    /// the sessions behind them, as they are stored. Only of a lasting plane.
    pub async fn stored_state(&self) -> Vec<String> {
        let place = &self.plane.place;
        let mut state = documents(place, "SELECT key || '=' || value FROM counts ORDER BY key").await;
        for sql in [
            "SELECT doc FROM decisions ORDER BY key",
            "SELECT doc FROM allowances ORDER BY key",
            "SELECT doc FROM executions ORDER BY key",
            "SELECT doc FROM held_requests ORDER BY key",
            "SELECT doc FROM unsettled_writes ORDER BY key",
            "SELECT doc FROM aaep_sessions ORDER BY key",
            "SELECT doc FROM outbox_messages ORDER BY key",
            "SELECT doc FROM sessions ORDER BY key",
            "SELECT doc FROM delegations ORDER BY key",
            "SELECT doc FROM plans ORDER BY key",
        ] {
            state.extend(documents(place, sql).await);
        }
        state
    }

    /// Every held request as it is stored. Only of a lasting plane.
    pub async fn sealed_requests(&self) -> Vec<String> {
        documents(&self.plane.place, "SELECT doc FROM held_requests ORDER BY key").await
    }
}

async fn documents(place: &StoreLocation, sql: &'static str) -> Vec<String> {
    rows(place, [sql, sql], |row| row.get(0), str::to_owned).await
}

async fn rows<T: Send + 'static>(
    place: &StoreLocation,
    [in_file, in_server]: [&'static str; 2],
    row: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T> + Send + 'static,
    line: impl Fn(&str) -> T,
) -> Vec<T> {
    match place {
        StoreLocation::File(path) => {
            let read = move |store: &rusqlite::Connection| {
                let mut statement = store.prepare(in_file).expect("the columns");
                statement.query_map([], row).expect("the rows").collect::<Result<_, _>>().expect("their values")
            };
            in_sqlite(path.clone(), read).await
        }
        StoreLocation::Postgres(place) => {
            let lines = postgres::run(&place.url, in_server).await;
            lines.lines().filter(|line| !line.is_empty()).map(line).collect()
        }
        StoreLocation::Temporary => panic!("only a lasting plane's rows can be read from outside"),
    }
}

async fn in_sqlite<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&rusqlite::Connection) -> T + Send + 'static,
) -> T {
    let work = move || work(&rusqlite::Connection::open(path).expect("the store's file"));
    tokio::task::spawn_blocking(work).await.expect("the store's file")
}

fn from_line(line: &str) -> StoredEntry {
    let mut columns = line.split('|');
    let mut next = || columns.next().expect("eight columns");
    let number = |text: &str| text.parse().expect("a number");
    let openings = |text: &str| (!text.is_empty()).then(|| String::from_utf8(unhex(text)).expect("UTF-8"));
    StoredEntry {
        project: number(next()),
        lane: number(next()),
        pos: number(next()),
        seq: number(next()),
        event_type: next().to_owned(),
        leaf: unhex(next()),
        hash: Digest::from_hex(next()).expect("a digest"),
        openings: openings(next()),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).expect("hex")
}
