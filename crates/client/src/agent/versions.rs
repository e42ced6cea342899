//! Negotiates the protocol version (AAP 13.4, 22). A refused version is never sent again.

use countersign_protocol::aap::{manifest::Manifest, version};
use http::HeaderMap;

#[derive(Clone, Debug)]
pub(super) struct Versions {
    ours: &'static [&'static str],
    refused: Vec<&'static str>,
    chosen: Option<&'static str>,
    /// The versions that the manifest lists.
    theirs: Vec<String>,
}

/// There is no common version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoneInCommon {
    pub(super) theirs: String,
}

impl Versions {
    pub(super) fn new(ours: &'static [&'static str]) -> Self {
        Self { ours, refused: Vec::new(), chosen: None, theirs: Vec::new() }
    }

    pub(super) fn ours(&self) -> String {
        version::list(self.ours)
    }

    /// The version to request: the agreed one, or our newest that was not refused.
    pub(super) fn requested(&self) -> Result<&'static str, NoneInCommon> {
        self.chosen.or_else(|| self.remaining().last().copied()).ok_or_else(|| self.no_common_version())
    }

    /// Agrees on a version from a manifest, so that no request is wasted on another (AAP 22.3, C-10).
    pub(super) fn negotiate(&mut self, manifest: &Manifest) -> Result<(), NoneInCommon> {
        self.theirs = listed(manifest);
        self.chosen = version::choose(&self.remaining(), &self.theirs);
        if self.chosen.is_none() {
            self.refused = self.ours.to_vec();
        }
        self.chosen.map(drop).ok_or_else(|| self.no_common_version())
    }

    /// The service refused this version.
    pub(super) fn refuse(&mut self, asked: &'static str) {
        self.refused.push(asked);
        self.chosen = None;
    }

    /// Agrees again, from the response's list or, without one, the manifest.
    pub(super) fn renegotiate(&mut self, answer: &HeaderMap) -> Result<&'static str, NoneInCommon> {
        if let Some(theirs) = listed_in(answer) {
            self.theirs = theirs;
        }
        self.chosen = version::choose(&self.remaining(), &self.theirs);
        if self.chosen.is_none() {
            self.refused = self.ours.to_vec();
        }
        self.chosen.ok_or_else(|| self.no_common_version())
    }

    fn remaining(&self) -> Vec<&'static str> {
        self.ours.iter().copied().filter(|version| !self.refused.contains(version)).collect()
    }

    fn no_common_version(&self) -> NoneInCommon {
        let theirs = if self.theirs.is_empty() { "none that it lists".to_owned() } else { self.theirs.join(", ") };
        NoneInCommon { theirs: super::notice::shown(&theirs) }
    }
}

/// The newer member first, then the older one, then the document's own version.
fn listed(manifest: &Manifest) -> Vec<String> {
    let own = || vec![manifest.spec.trim_end_matches("-draft").to_owned()];
    let lists = [&manifest.spec_versions_accepted, &manifest.spec_versions_supported];
    lists.into_iter().find(|list| !list.is_empty()).cloned().unwrap_or_else(own)
}

/// Both names are in use for the same list (C-11).
fn listed_in(headers: &HeaderMap) -> Option<Vec<String>> {
    let value = headers.get(version::ACCEPTED_HEADER).or_else(|| headers.get(version::REQUIRED_HEADER))?;
    Some(value.to_str().ok()?.split(',').map(|version| version.trim().to_owned()).collect())
}
