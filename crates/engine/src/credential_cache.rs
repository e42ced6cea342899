//! The credential cache: the holders of access tokens, cached between calls.
//!
//! A cached credential may be stale and is never trusted. Every call commits with guards on the rows that it was
//! decided from, so a change on any node makes the commit fail, and the call is decided again from the store.

use crate::projects::Address;
use countersign_core::{
    aap::access::{AccessView, Bearer},
    records::Project,
};
use countersign_protocol::{hash::Digest, ids::RowKey};
use quick_cache::sync::Cache;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

const REMEMBERED: usize = 100_000;

pub(crate) struct CredentialCache(Cache<(String, Digest), Arc<AccessView>>);

/// One copy of each project, shared by all cached credentials.
#[derive(Default)]
pub(crate) struct ProjectCache {
    projects: Mutex<HashMap<RowKey, Arc<Project>>>,
    /// The project last found at each address.
    addressed: RwLock<HashMap<Address, Arc<Project>>>,
}

impl ProjectCache {
    pub(crate) fn at_address(&self, address: &Address) -> Option<Arc<Project>> {
        self.addressed.read().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
    }

    pub(crate) fn set_address(&self, address: &Address, project: &Arc<Project>) {
        if !self.at_address(address).is_some_and(|last| Arc::ptr_eq(&last, project)) {
            let mut addressed = self.addressed.write().unwrap_or_else(PoisonError::into_inner);
            addressed.insert(address.clone(), Arc::clone(project));
        }
    }

    pub(crate) fn intern(&self, project: Project) -> Arc<Project> {
        let mut known = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&project.key) {
            Some(same) if same.version == project.version => Arc::clone(same),
            _ => {
                let fresh = Arc::new(project);
                known.insert(fresh.key, Arc::clone(&fresh));
                fresh
            }
        }
    }
}

impl Default for CredentialCache {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl CredentialCache {
    pub(crate) fn get(&self, project: &str, token: &Digest) -> Option<Arc<AccessView>> {
        self.0.get(&(project.to_owned(), *token))
    }

    pub(crate) fn insert(&self, project: &str, token: Digest, view: &Arc<AccessView>) {
        self.0.insert((project.to_owned(), token), Arc::clone(view));
    }

    pub(crate) fn remove(&self, project: &str, token: &Digest) {
        self.0.remove(&(project.to_owned(), *token));
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }

    /// Drops all tokens under these delegations and sessions: this node decides their next call from the store, so that not
    /// even a read goes out after the answer to a revocation.
    pub(crate) fn remove_holders(&self, cut_off: &[RowKey]) {
        let rests_on = |bearer: &Bearer| {
            let delegation = bearer.delegation.as_ref().map(|delegation| delegation.key);
            cut_off.contains(&bearer.session.key) || delegation.is_some_and(|key| cut_off.contains(&key))
        };
        self.0.retain(|_, view| !view.bearer.as_ref().is_some_and(rests_on));
    }
}
