//! Reading records for a view.

use crate::{
    engine::Engine,
    store::{self, Lookup, StoreError},
};
use countersign_core::{records::Stored, refusal::Refusal};
use countersign_protocol::ids::RowKey;
use std::sync::Arc;

impl Engine {
    pub(crate) async fn get<T: Stored>(&self, key: RowKey) -> Result<Option<T>, StoreError> {
        store::get(&*self.store, key).await
    }

    /// The record behind a reference that may be empty.
    pub(crate) async fn get_some<T: Stored>(&self, key: Option<RowKey>) -> Result<Option<T>, StoreError> {
        match key {
            Some(key) => self.get(key).await,
            None => Ok(None),
        }
    }

    /// A record that exists as long as those that refer to it.
    pub(crate) async fn load<T: Stored>(&self, key: RowKey) -> Result<T, Refusal> {
        self.get(key).await?.ok_or(Refusal::Internal)
    }

    pub(crate) async fn find_one<L: Lookup>(&self, lookup: L) -> Result<Option<L::Record>, StoreError> {
        store::find_one(&*self.store, lookup).await
    }

    /// The record as the cache has it, without a copy.
    pub(crate) async fn find_shared<L: Lookup>(&self, lookup: L) -> Result<Option<Arc<L::Record>>, StoreError> {
        store::find_shared(&*self.store, lookup).await
    }

    pub(crate) async fn find_all<L: Lookup>(&self, lookup: L) -> Result<Vec<L::Record>, StoreError> {
        store::find_all(&*self.store, lookup).await
    }
}
