//! Who holds an access token, remembered between calls.
//!
//! What is remembered may be old; it is never trusted. Every call commits with guards on the rows that it was
//! decided from, so a change on any node makes the commit fail, and the call is decided again from the store.

use countersign_core::aap::access::AccessView;
use countersign_protocol::hash::Digest;
use quick_cache::sync::Cache;
use std::sync::Arc;

const REMEMBERED: usize = 100_000;

pub(crate) struct Bearers(Cache<(String, Digest), Arc<AccessView>>);

impl Default for Bearers {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl Bearers {
    pub(crate) fn recall(&self, project: &str, token: &Digest) -> Option<Arc<AccessView>> {
        self.0.get(&(project.to_owned(), *token))
    }

    pub(crate) fn remember(&self, project: &str, token: Digest, view: &Arc<AccessView>) {
        self.0.insert((project.to_owned(), token), Arc::clone(view));
    }

    pub(crate) fn forget(&self, project: &str, token: &Digest) {
        self.0.remove(&(project.to_owned(), *token));
    }
}
