//! The health of a node's storage: a fault takes the node out of service until a restart.

use super::error::StoreFailure;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of the storage, for readiness checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Why nothing may be committed any more.
    pub fault: Option<String>,
    /// The result of the check of the whole database, where there is one.
    pub check: Option<&'static str>,
}

/// The same, shared by all parts of a store.
#[derive(Clone, Default)]
pub(crate) struct Health(Arc<Mutex<StoreHealth>>);

impl Health {
    pub(crate) fn read(&self) -> StoreHealth {
        self.state().clone()
    }

    /// The first fault stays: consequences of it would only hide it.
    pub(crate) fn fail(&self, why: impl Into<String>) -> StoreFailure {
        let mut state = self.state();
        let why = state.fault.get_or_insert_with(|| {
            let why = why.into();
            tracing::error!(why, "this node leaves service");
            why
        });
        StoreFailure::Refused(why.clone())
    }

    pub(crate) fn check(&self) -> Result<(), StoreFailure> {
        self.state().fault.clone().map_or(Ok(()), |why| Err(StoreFailure::Refused(why)))
    }

    pub(crate) fn set_check(&self, check: &'static str) {
        self.state().check = Some(check);
    }

    fn state(&self) -> MutexGuard<'_, StoreHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
