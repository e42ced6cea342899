//! Held requests with pending approval, read directly from the database, past the store.

use super::BankScene;
use crate::postgres;
use countersign_engine::store::StoreLocation;

const ALL: &str = "SELECT doc FROM held_requests ORDER BY key";

impl BankScene {
    /// Every held request as it is stored. Only of a lasting plane.
    pub async fn kept(&self) -> Vec<String> {
        match &self.plane.place {
            StoreLocation::Temporary => panic!("only a lasting plane's rows can be read from outside"),
            StoreLocation::Postgres(place) => {
                let lines = postgres::run(&place.url, ALL).await;
                lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
            }
            StoreLocation::File(path) => {
                let path = path.clone();
                let read = move || {
                    let connection = rusqlite::Connection::open(path).expect("the store's file");
                    let mut statement = connection.prepare(ALL).expect("its columns");
                    statement
                        .query_map([], |row| row.get(0))
                        .expect("its rows")
                        .collect::<Result<_, _>>()
                        .expect("text")
                };
                tokio::task::spawn_blocking(read).await.expect("the rows of the store")
            }
        }
    }
}
