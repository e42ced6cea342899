//! The database of a node: its location, and the checks when it is opened.

use crate::config::node;
use countersign_engine::{
    Clock, NodeClock,
    store::{self, Opening, PostgresLocation, Store, StoreError, StoreLocation, StoreOptions},
};
use std::sync::Arc;

/// Whether a start may create a new database. Unless requested, a missing database is treated as an accident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstStart {
    Refused,
    Allowed,
}

/// For a running node.
pub(crate) fn for_node(config: &node::NodeConfig, first: FirstStart) -> Opening {
    Opening { alone: true, create: first == FirstStart::Allowed, ..beside(config) }
}

/// For a command, with or without a running node.
pub(crate) fn beside(config: &node::NodeConfig) -> Opening {
    let state = match &config.store {
        node::Store::Sqlite { .. } => None,
        node::Store::Postgres { state, .. } => Some(state.clone()),
    };
    Opening { state, ..Opening::default() }
}

pub(crate) async fn open(
    config: &node::NodeConfig,
    opening: Opening,
    clock: &NodeClock,
) -> Result<Arc<dyn Store>, StoreError> {
    let moment = clock.clone();
    let options = StoreOptions {
        readers: readers(&config.store),
        place: location(&config.store),
        clock: Arc::new(move || moment.now()),
    };
    store::open_as(opening, options).await
}

/// Creates the configured database; returns false, and changes nothing, if there is one already.
pub async fn create_database(config: &node::NodeConfig) -> Result<bool, StoreError> {
    match open(config, beside(config), &Clock::System.into()).await {
        Ok(store) => {
            store.close().await;
            Ok(false)
        }
        Err(StoreError::Missing(_)) => {
            let opening = Opening { alone: true, create: true, ..beside(config) };
            open(config, opening, &Clock::System.into()).await?.close().await;
            Ok(true)
        }
        Err(why) => Err(why),
    }
}

fn location(store: &node::Store) -> StoreLocation {
    match store {
        node::Store::Sqlite { path, .. } => StoreLocation::File(path.clone()),
        node::Store::Postgres { url, root_certificates, pool, .. } => StoreLocation::Postgres(PostgresLocation {
            url: url.expose().to_owned(),
            root_certificates: root_certificates.clone(),
            connections: *pool,
        }),
    }
}

fn readers(store: &node::Store) -> usize {
    match store {
        node::Store::Sqlite { readers, .. } => *readers,
        node::Store::Postgres { pool, .. } => *pool,
    }
}
