//! Reads that return records instead of documents.

use super::{Search, Store, StoreError};
use countersign_core::records::{Project, Stored};
use countersign_protocol::ids::RowKey;

/// A search for rows of one type of record. All of them are in `lookups.rs`.
pub trait Lookup {
    type Record: Stored;

    fn search(self) -> Search;
}

pub async fn get<T: Stored>(store: &dyn Store, key: RowKey) -> Result<Option<T>, StoreError> {
    store.find(Search::by_key(T::TABLE, key)).await?.as_deref().map(parse).transpose()
}

pub async fn find_one<L: Lookup>(store: &dyn Store, lookup: L) -> Result<Option<L::Record>, StoreError> {
    store.find(lookup.search()).await?.as_deref().map(parse).transpose()
}

pub async fn find_all<L: Lookup>(store: &dyn Store, lookup: L) -> Result<Vec<L::Record>, StoreError> {
    store.list(lookup.search()).await?.iter().map(|doc| parse(doc)).collect()
}

/// A project as it was at a version.
pub async fn project_at(store: &dyn Store, project: RowKey, version: i64) -> Result<Option<Project>, StoreError> {
    store.project_version(project, version).await?.as_deref().map(parse).transpose()
}

fn parse<T: Stored>(doc: &str) -> Result<T, StoreError> {
    serde_json::from_str(doc).map_err(|why| StoreError::Damaged(format!("{:?}: {why}", T::TABLE)))
}
