//! Entries of the evidence log, and their reading.
//!
//! Only this module separates open from hidden members. People, paths, reasons and session ids are personal or
//! guessable and become salted commitments; members needed for an independent check stay open.

use crate::{
    env::Mint,
    records::{Delegation, Mode},
    step::EvidenceDraft,
};
use countersign_protocol::{
    aap::audit::AuditEntry,
    canonical::{CanonicalValue, NotCanonical},
    evidence::{LeafMembers, Opening},
    hash::Digest,
    ids::{ProjectId, RowKey},
    time::UnixMillis,
};
use serde_json::{Map, Value};

/// The builder of an entry.
pub struct DraftEntry {
    project: RowKey,
    at: UnixMillis,
    event_type: &'static str,
    delegation: Option<RowKey>,
    session: Option<RowKey>,
    members: LeafMembers,
}

impl DraftEntry {
    pub fn new(project: (RowKey, &ProjectId), event_type: &'static str, at: UnixMillis) -> Self {
        let entry =
            Self { project: project.0, at, event_type, delegation: None, session: None, members: LeafMembers::new() };
        entry.open("project", project.1.as_str()).open("event_type", event_type).open("timestamp", at.to_rfc3339())
    }

    /// Lists the entry under a delegation.
    pub fn under_delegation(mut self, key: RowKey, id: &str) -> Self {
        self.delegation = Some(key);
        self.open("delegation_id", id)
    }

    /// Lists the entry under a session. The id is hidden, since operators choose session ids freely.
    pub fn in_session(mut self, key: RowKey, id: &str) -> Self {
        self.session = Some(key);
        self.hidden("session_id", id)
    }

    /// The mode of a delegation, and for whom it acts: a person's name is hidden, a service account's is not.
    pub fn about(self, delegation: &Delegation) -> Self {
        let entry = self.open("mode", delegation.mode().as_str());
        match delegation.mode() {
            Mode::UserDelegated => entry.hidden("acting_for", delegation.subject.as_str()),
            Mode::ServiceAccount => entry.open("account_id", delegation.subject.as_str()),
        }
    }

    pub fn open(mut self, name: &'static str, value: impl CanonicalValue) -> Self {
        self.members.open(name, value);
        self
    }

    pub fn hidden(mut self, name: &'static str, value: impl CanonicalValue) -> Self {
        self.members.hidden(name, value);
        self
    }

    pub fn hidden_if(self, name: &'static str, value: Option<impl CanonicalValue>) -> Self {
        match value {
            Some(value) => self.hidden(name, value),
            None => self,
        }
    }

    pub fn open_if(self, name: &'static str, value: Option<impl CanonicalValue>) -> Self {
        match value {
            Some(value) => self.open(name, value),
            None => self,
        }
    }

    pub fn seal(self, mint: &mut Mint) -> Result<EvidenceDraft, NotCanonical> {
        let leaf = self.members.seal(|| mint.bytes())?;
        Ok(EvidenceDraft {
            project: self.project,
            at: self.at,
            event_type: self.event_type,
            delegation: self.delegation,
            session: self.session,
            leaf,
        })
    }
}

/// A stored entry for callers of `/agent/audit`. Erased members are omitted.
pub fn read(leaf: &[u8], openings: Option<&str>, lane: i64, seq: i64, hash: &Digest) -> Option<AuditEntry> {
    let mut members = opened(leaf, openings)?;
    members.insert("lane".into(), lane.into());
    members.insert("seq".into(), seq.into());
    members.insert("leaf_hash".into(), hash.hex().into());
    serde_json::from_value(Value::Object(members)).ok()
}

/// All members of a stored entry, including hidden ones. Erased members are omitted.
pub fn opened(leaf: &[u8], openings: Option<&str>) -> Option<Map<String, Value>> {
    let mut members: Map<String, Value> = serde_json::from_slice(leaf).ok()?;
    let openings: Map<String, Value> = openings.and_then(|o| serde_json::from_str(o).ok()).unwrap_or_default();
    for (name, opening) in openings {
        let opening: Opening = serde_json::from_value(opening).ok()?;
        members.insert(name, opening.value);
    }
    Some(members)
}
