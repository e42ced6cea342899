//! Look-ups that return records instead of documents.

use super::{Lookup, Store, StoreError};
use countersign_core::records::{Project, Stored};
use countersign_protocol::ids::RowKey;

pub async fn get<T: Stored>(store: &dyn Store, key: RowKey) -> Result<Option<T>, StoreError> {
    find_one(store, Lookup::Key(T::TABLE, key)).await
}

pub async fn find_one<T: Stored>(store: &dyn Store, lookup: Lookup) -> Result<Option<T>, StoreError> {
    check::<T>(&lookup)?;
    store.find(lookup).await?.as_deref().map(parse).transpose()
}

pub async fn find_all<T: Stored>(store: &dyn Store, lookup: Lookup) -> Result<Vec<T>, StoreError> {
    check::<T>(&lookup)?;
    store.list(lookup).await?.iter().map(|doc| parse(doc)).collect()
}

/// A project as it was at a version.
pub async fn project_at(store: &dyn Store, project: RowKey, version: i64) -> Result<Option<Project>, StoreError> {
    store.project_version(project, version).await?.as_deref().map(parse).transpose()
}

fn parse<T: Stored>(doc: &str) -> Result<T, StoreError> {
    serde_json::from_str(doc).map_err(|why| StoreError::Damaged(format!("{:?}: {why}", T::TABLE)))
}

fn check<T: Stored>(lookup: &Lookup) -> Result<(), StoreError> {
    if lookup.table() == T::TABLE {
        return Ok(());
    }
    Err(StoreError::Damaged(format!("{lookup:?} does not find a {:?}", T::TABLE)))
}
