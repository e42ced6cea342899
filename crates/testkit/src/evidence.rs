//! The evidence log read directly from the database, past the store: an oracle for the store.

use crate::{Kit, Plane, Setup, leaks::Folder, postgres};
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
        let (place, folder) = self.open_place().await;
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
    match place {
        StoreLocation::File(path) => in_sqlite(path.clone()).await,
        StoreLocation::Postgres(place) => {
            let lines = postgres::run(&place.url, IN_POSTGRES).await;
            lines.lines().filter(|line| !line.is_empty()).map(from_line).collect()
        }
        StoreLocation::Temporary => panic!("only a lasting plane's log can be read from outside"),
    }
}

async fn in_sqlite(path: PathBuf) -> Vec<StoredEntry> {
    let read = move || {
        let connection = rusqlite::Connection::open(path).expect("the store's file");
        let mut statement = connection.prepare(IN_SQLITE).expect("the log's columns");
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
        statement.query_map([], entry).expect("the log").collect::<Result<_, _>>().expect("its lines")
    };
    tokio::task::spawn_blocking(read).await.expect("the log of the store")
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
