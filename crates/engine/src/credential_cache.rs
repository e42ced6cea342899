//! The credential cache: the holders of access tokens, cached between calls.
//!
//! A cached credential may be stale and is never trusted. Every call commits with guards on the rows that it was
//! decided from, so a change on any node makes the commit fail, and the call is decided again from the store.

use crate::{
    ended_holders::{EndedHolders, Generation},
    projects::Address,
};
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

pub(crate) struct CredentialCache {
    views: Cache<(String, Digest), Arc<AccessView>>,
    ended: EndedHolders,
    /// Locked for writing while views are removed because their holders ended.
    removing: RwLock<()>,
}

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

impl CredentialCache {
    pub(crate) fn new(ended: EndedHolders) -> Self {
        Self { views: Cache::new(REMEMBERED), ended, removing: RwLock::default() }
    }

    pub(crate) fn get(&self, project: &str, token: &Digest) -> Option<Arc<AccessView>> {
        self.views.get(&(project.to_owned(), *token))
    }

    /// `loaded_in`: the generation before the view was loaded. If its delegation or session ended meanwhile the view may be
    /// stale, and no later end would remove it.
    pub(crate) fn insert(&self, project: &str, token: Digest, view: &Arc<AccessView>, loaded_in: Generation) {
        // Not worth waiting for: the next call loads it again.
        let Ok(_not_removing) = self.removing.try_read() else { return };
        let holders = view.bearer.as_ref().map(holders).unwrap_or_default();
        if !self.ended.has_ended_since(loaded_in, &holders) {
            self.views.insert((project.to_owned(), token), Arc::clone(view));
        }
    }

    pub(crate) fn remove(&self, project: &str, token: &Digest) {
        self.views.remove(&(project.to_owned(), *token));
    }

    pub(crate) fn clear(&self) {
        self.views.clear();
    }

    /// Drops all tokens under these delegations and sessions: this node decides their next call from the store, so that not
    /// even a read goes out after the answer to a revocation. Reads that were decided before are cut.
    pub(crate) fn remove_holders(&self, cut_off: &[RowKey]) {
        let _removing = self.removing.write().unwrap_or_else(PoisonError::into_inner);
        let rests_on = |bearer: &Bearer| holders(bearer).iter().flatten().any(|holder| cut_off.contains(holder));
        self.views.retain(|_, view| !view.bearer.as_ref().is_some_and(rests_on));
        // Last: who finds a view here in the new generation finds none that ended.
        self.ended.add(cut_off);
    }
}

/// The session and the delegation that a token rests on.
fn holders(bearer: &Bearer) -> [Option<RowKey>; 2] {
    [Some(bearer.session.key), bearer.delegation.as_ref().map(|delegation| delegation.key)]
}
