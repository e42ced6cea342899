//! Clarification chains read directly from the database, past the store: for inspection and for tampering.

use crate::postgres;
use countersign_engine::store::StoreLocation;
use std::path::{Path, PathBuf};

/// Every link of every chain, as stored.
pub async fn chain_in_store(place: &StoreLocation) -> Vec<String> {
    let sql = "SELECT doc FROM clarification_entries ORDER BY session, position";
    match place {
        StoreLocation::File(path) => {
            let links = move |store: &rusqlite::Connection| {
                let mut statement = store.prepare(sql).expect("the chains");
                let rows = statement.query_map([], |row| row.get(0)).expect("the chains");
                rows.collect::<Result<_, _>>().expect("their links")
            };
            in_sqlite(path.clone(), links).await
        }
        StoreLocation::Postgres(place) => postgres::run(&place.url, sql).await.lines().map(str::to_owned).collect(),
        StoreLocation::Temporary => panic!("only a lasting plane's chains can be read from outside"),
    }
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
        StoreLocation::Temporary => panic!("only a lasting plane's chains can be changed from outside"),
    }
}

async fn in_sqlite<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&rusqlite::Connection) -> T + Send + 'static,
) -> T {
    let open = |path: &Path| rusqlite::Connection::open(path).expect("the store's file");
    tokio::task::spawn_blocking(move || work(&open(&path))).await.expect("the store's file")
}
