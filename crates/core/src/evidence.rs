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
    evidence::{self, Leaf, LeafMembers, Misfit},
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

    /// The time of the entry.
    pub fn at(&self) -> UnixMillis {
        self.at
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

/// All members of a leaf with its openings, hidden ones included.
pub fn opened(leaf: &Leaf) -> Result<Map<String, Value>, Misfit> {
    with_openings(evidence::open_members(&leaf.bytes, &leaf.hash)?, leaf.openings.as_deref())
}

fn with_openings(mut members: Map<String, Value>, openings: Option<&str>) -> Result<Map<String, Value>, Misfit> {
    if let Some(openings) = openings {
        members.extend(evidence::openings_of(&members, openings)?);
    }
    Ok(members)
}

/// An entry as it is stored: the leaf, its openings, and the columns by which it is found.
#[derive(Clone, Copy, Debug)]
pub struct StoredLeaf<'a> {
    pub leaf: &'a [u8],
    pub hash: &'a Digest,
    pub openings: Option<&'a str>,
    pub at: UnixMillis,
    pub event_type: &'a str,
}

impl StoredLeaf<'_> {
    /// All members, hidden ones included. Erased members are absent; an entry that does not fit is an error.
    pub fn members(&self) -> Result<Map<String, Value>, Misfit> {
        with_openings(self.open_members()?, self.openings)
    }

    /// The members that stand in the leaf itself.
    pub fn open_members(&self) -> Result<Map<String, Value>, Misfit> {
        let members = evidence::open_members(self.leaf, self.hash)?;
        let is = |name: &str, value: &str| members.get(name).and_then(Value::as_str) == Some(value);
        if !is("event_type", self.event_type) {
            return Err(Misfit::Column("event_type"));
        }
        if !is("timestamp", &self.at.to_rfc3339()) {
            return Err(Misfit::Column("at"));
        }
        Ok(members)
    }

    /// The entry for its readers. What does not fit is left out, and the entry says so: of a leaf that does not fit nothing but
    /// its position is served, of an altered opening the leaf without any.
    pub fn entry(&self, (lane, seq): (i64, i64)) -> (AuditEntry, Option<Misfit>) {
        let (members, misfit) = match self.members() {
            Ok(members) => (members, None),
            Err(misfit) => (self.open_members().unwrap_or_default(), Some(misfit)),
        };
        let position = |entry: AuditEntry| AuditEntry { lane, seq, leaf_hash: self.hash.hex(), ..entry };
        let fault = misfit.as_ref().map(ToString::to_string);
        match read(members) {
            Some(entry) => (position(AuditEntry { evidence_fault: fault, ..entry }), misfit),
            None => {
                let misfit = misfit.unwrap_or(Misfit::Leaf);
                let (timestamp, event_type) = (self.at, UNREADABLE.to_owned());
                let evidence_fault = Some(misfit.to_string());
                (position(AuditEntry { timestamp, event_type, evidence_fault, ..AuditEntry::default() }), Some(misfit))
            }
        }
    }
}

/// Stands for the event of an entry that cannot be trusted.
const UNREADABLE: &str = "unreadable";

fn read(mut members: Map<String, Value>) -> Option<AuditEntry> {
    // Only in the position of the reader.
    members.insert("lane".into(), 0.into());
    members.insert("seq".into(), 0.into());
    members.insert("leaf_hash".into(), "".into());
    members.remove("evidence_fault");
    serde_json::from_value(Value::Object(members)).ok()
}
