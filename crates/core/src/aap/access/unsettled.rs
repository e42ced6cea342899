//! Repeats of writes with an unknown outcome, and the settling of such writes.

use super::CallFacts;
use crate::{
    decision::ProjectRef,
    env::{Env, Mint},
    evidence::DraftEntry,
    held::HttpRequest,
    records::{Record, Table, UnsettledWrite, WriteFingerprint, WriteState},
    refusal::Refusal,
    step::{Effects, Guard, Operation, SpentProof, Step},
};
use countersign_protocol::{action::Action, canonical::NotCanonical, hash::Digest, ids::RowKey};
use serde::{Deserialize, Serialize};

/// Longest time for which repeats are refused.
pub const UNSETTLED_S: i64 = 86_400;
/// Bytes of a body compared before the whole body is known.
pub const BEGINNING_BYTES: usize = 16 * 1024;

/// The part of a write that its enforcement point has read. `head` has no body.
#[derive(Clone, Debug)]
pub struct ReadWrite {
    pub head: HttpRequest,
    pub beginning: Option<Digest>,
    pub length: Option<u64>,
    pub body: Option<Digest>,
}

impl CallFacts {
    /// Whether repeats of this call are refused while its outcome is unknown. A write has a delegation (C-24).
    pub fn refuses_repeats(&self) -> bool {
        !self.is_dry_run() && self.would_refuse_repeats()
    }

    /// The same for the real call, if this is its dry run.
    pub fn would_refuse_repeats(&self) -> bool {
        self.route().writes() && !self.route().is_idempotent() && self.delegation().is_some()
    }

    /// The fingerprint that identifies repeats of this call.
    pub fn fingerprint(&self, read: &ReadWrite, proof: Option<&SpentProof>) -> Result<WriteFingerprint, NotCanonical> {
        let principal = self.delegation_id().unwrap_or_default();
        let head = Action::Http(read.head.action(&self.project().id, principal, self.route())).digest()?;
        Ok(WriteFingerprint {
            head,
            beginning: read.beginning,
            length: read.length,
            body: read.body,
            idempotency_key: self.idempotency_key,
            proof: proof.map(|proof| Digest::of_parts(&[&proof.jkt.0, proof.jti.as_bytes()])),
        })
    }

    /// Whether a call is a write without approval that only its own row shows as under way: repeats of it are harmless.
    pub(super) fn is_repeatable_write(&self) -> bool {
        self.writes() && self.route().is_idempotent() && self.delegation().is_some()
    }

    pub(super) fn unsettled(
        &self,
        fingerprint: Option<&WriteFingerprint>,
        env: &Env,
        mint: &mut Mint,
    ) -> UnsettledWrite {
        let delegation = self.delegation().unwrap_or_default();
        UnsettledWrite {
            key: mint.key(),
            version: 1,
            project: self.project().key,
            call_id: mint.id("call"),
            delegation,
            session: Some(self.session()),
            delegation_id: self.delegation_id().unwrap_or_default().to_owned(),
            operator: self.operator().to_owned(),
            route: self.route().id.clone(),
            action: self.action().to_owned(),
            method: self.method().to_owned(),
            target: self.target(),
            same: fingerprint.map(|fingerprint| fingerprint.same(delegation, &self.route().id)),
            fingerprint: fingerprint.cloned(),
            started_at: env.now,
            until: env.now.plus_secs(UNSETTLED_S),
            state: WriteState::InFlight,
        }
    }
}

impl WriteFingerprint {
    /// Whether this may be a repeat of `earlier`.
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.has_same_key(earlier) || self.has_same_content(earlier)
    }

    /// Whether only the rest of the body can tell.
    pub fn needs_body(&self, earlier: &Self) -> bool {
        self.repeats(earlier) && !self.has_same_key(earlier) && self.body.is_none() && earlier.body.is_some()
    }

    fn has_same_key(&self, earlier: &Self) -> bool {
        let same = |mine: &Option<Digest>, theirs: &Option<Digest>| mine.is_some() && mine == theirs;
        same(&self.idempotency_key, &earlier.idempotency_key) || same(&self.proof, &earlier.proof)
    }

    fn has_same_content(&self, earlier: &Self) -> bool {
        fn agree<T: PartialEq>(mine: &Option<T>, theirs: &Option<T>) -> bool {
            mine.is_none() || theirs.is_none() || mine == theirs
        }
        self.head == earlier.head
            && agree(&self.beginning, &earlier.beginning)
            && agree(&self.length, &earlier.length)
            && agree(&self.body, &earlier.body)
    }

    fn same(&self, delegation: RowKey, route: &str) -> Digest {
        let length = self.length.map(u64::to_be_bytes);
        let body: Vec<&[u8]> = match (&self.body, &self.beginning) {
            (Some(body), _) => vec![b"body", &body.0],
            (None, Some(beginning)) => {
                vec![b"beginning", &beginning.0, length.as_ref().map_or(&[], |length| length.as_slice())]
            }
            (None, None) => vec![b"head", length.as_ref().map_or(&[], |length| length.as_slice())],
        };
        let route_sha256 = Digest::of(route.as_bytes());
        let head: [&[u8]; 3] = [&delegation.to_be_bytes(), &route_sha256.0, &self.head.0];
        Digest::of_parts(&[&head, body.as_slice()].concat())
    }
}

/// The outcome of a write as observed by the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteResult {
    Ran,
    DidNotRun,
    Unknown,
}

impl WriteResult {
    const ALL: [Self; 3] = [Self::Ran, Self::DidNotRun, Self::Unknown];

    /// As the audit names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "committed",
            Self::DidNotRun => "none",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.as_str() == text)
    }

    /// Whether the write took effect; none if that is not known.
    pub const fn took_effect(self) -> Option<bool> {
        match self {
            Self::Ran => Some(true),
            Self::DidNotRun => Some(false),
            Self::Unknown => None,
        }
    }
}

/// The observed outcome of a write, with the digest of its body if it was sent completely.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SeenWrite {
    pub result: WriteResult,
    pub body: Option<Digest>,
}

impl SeenWrite {
    /// The change of the write's row, and whether the outcome contradicts a person's reconciliation.
    pub fn settle(&self, row: &UnsettledWrite, place: &ProjectRef, env: &Env) -> Result<(Effects, bool), NotCanonical> {
        let guards = vec![Guard { table: Table::UnsettledWrite, key: row.key, version: row.version }];
        let effects = match (&row.state, self.result, &row.fingerprint) {
            (WriteState::Settled { ran, .. }, WriteResult::Ran | WriteResult::DidNotRun, _) => {
                let seen = self.result == WriteResult::Ran;
                if *ran == seen {
                    return Ok((Effects::default(), false));
                }
                let entry = entry(row, place, "call_conflict", env)
                    .open("outcome", outcome(seen))
                    .open("reported_by", "claimant")
                    .seal(&mut env.mint())?;
                return Ok((Effects { guards, evidence: vec![entry], ..Effects::default() }, true));
            }
            (WriteState::Settled { .. }, WriteResult::Unknown, _) => Effects::default(),
            (_, WriteResult::Unknown, Some(earlier)) => {
                let fingerprint = Some(WriteFingerprint { body: self.body.or(earlier.body), ..earlier.clone() });
                let state = WriteState::Unknown { since: env.now };
                let unknown = UnsettledWrite { fingerprint, state, version: row.version + 1, ..row.clone() };
                Effects { puts: vec![Record::UnsettledWrite(unknown)], ..Effects::default() }
            }
            // Of a write with harmless repeats the audit alone keeps an unknown outcome.
            _ => Effects { guards, removes: vec![(Table::UnsettledWrite, row.key)], ..Effects::default() },
        };
        Ok((effects, false))
    }
}

/// An administrator reconciles the outcome of a write.
pub struct SettleWrite {
    pub ran: bool,
    pub reason: String,
}

impl Operation for SettleWrite {
    type View = (ProjectRef, UnsettledWrite);
    type Answer = UnsettledWrite;
    type Refusal = Refusal;

    fn decide(self, (place, row): &Self::View, env: &Env) -> Result<Step<UnsettledWrite>, Refusal> {
        if self.reason.trim().is_empty() {
            return Err(Refusal::invalid("say how you found out"));
        }
        match row.state {
            WriteState::Settled { ran, .. } if ran == self.ran => return Ok(Step::answer(row.clone())),
            WriteState::Settled { .. } => {
                return Err(Refusal::Conflict("this call was already settled with another outcome".into()));
            }
            WriteState::InFlight | WriteState::Unknown { .. } => {}
        }
        let state = WriteState::Settled { at: env.now, ran: self.ran, reason: self.reason.clone() };
        let settled = UnsettledWrite { state, version: row.version + 1, ..row.clone() };
        let entry = entry(row, place, "call_settled", env)
            .open("outcome", outcome(self.ran))
            .open("by", "service")
            .hidden("reason", self.reason.as_str())
            .seal(&mut env.mint())?;
        let puts = vec![Record::UnsettledWrite(settled.clone())];
        Ok(Step { answer: settled, effects: Effects { puts, evidence: vec![entry], ..Effects::default() } })
    }
}

fn entry(row: &UnsettledWrite, place: &ProjectRef, event_type: &'static str, env: &Env) -> DraftEntry {
    DraftEntry::new((place.0, &place.1), event_type, env.now)
        .under_delegation(row.delegation, &row.delegation_id)
        .open("call_id", row.call_id.as_str())
        .open("action", row.action.as_str())
        .open("operator", row.operator.as_str())
}

fn outcome(ran: bool) -> &'static str {
    if ran { "committed" } else { "failed" }
}

#[cfg(test)]
mod tests;
