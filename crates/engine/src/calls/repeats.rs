//! Repeats of writes that needed no approval: refused while the outcome of the first one is not known.

use super::{DecidedCall, UpstreamExchange};
use crate::{
    services::Calls,
    store::{Outcome, UnsettledWriteById, UnsettledWritesIn, UnsettledWritesOf},
};
use countersign_core::{
    aap::access::{BEGINNING_BYTES, CallFacts, ReadWrite, SeenWrite, SettleWrite},
    decision::ProjectRef,
    env::Env,
    held::HttpRequest,
    records::{Project, Table, UnsettledWrite, WriteFingerprint},
    refusal::Refusal,
    step::{Effects, Operation as _},
};
use countersign_protocol::{hash::Digest, ids::RowKey};
use std::sync::{Arc, OnceLock};

/// The digest of a body that is still arriving, once all of it has passed.
#[derive(Clone, Debug, Default)]
pub struct BodyDigest(Arc<OnceLock<Digest>>);

impl BodyDigest {
    pub fn known(digest: Digest) -> Self {
        let body = Self::default();
        body.set(digest);
        body
    }

    pub fn set(&self, digest: Digest) {
        let _first = self.0.set(digest);
    }

    pub fn get(&self) -> Option<Digest> {
        self.0.get().copied()
    }
}

/// A write that repeats nothing unsettled, as its own repeats will be recognised.
pub(super) struct FreshWrite {
    pub(super) fingerprint: WriteFingerprint,
    pub(super) body: BodyDigest,
}

impl Calls<'_> {
    /// Refuses a write that may repeat an unsettled one. No refusal on routes with harmless repeats.
    ///
    /// A body is read to its end only if everything before it equals an unsettled write under the same delegation and on the
    /// same route.
    pub(super) async fn refuse_repeat<E: UpstreamExchange>(
        self,
        decided: &DecidedCall,
        whole: Option<&HttpRequest>,
        exchange: &mut E,
    ) -> Result<Option<FreshWrite>, Refusal> {
        let facts = decided.facts();
        if !facts.refuses_repeats() {
            return Ok(None);
        }
        let proof = decided.authorized().and_then(|authorized| authorized.proof());
        let unsettled = self.find_unsettled_writes(facts).await?;
        if let Some(request) = whole {
            let (head, body) = describe_whole(request);
            let fingerprint = facts.fingerprint(&head, proof)?;
            refuse_if_repeated(&fingerprint, &unsettled)?;
            return Ok(Some(FreshWrite { fingerprint, body }));
        }
        let (mut head, mut body) = exchange.describe(facts, false).await?;
        let mut fingerprint = facts.fingerprint(&head, proof)?;
        if fingerprints(&unsettled).any(|(_, earlier)| fingerprint.needs_body(earlier)) {
            (head, body) = exchange.describe(facts, true).await?;
            fingerprint = facts.fingerprint(&head, proof)?;
        }
        refuse_if_repeated(&fingerprint, &unsettled)?;
        Ok(Some(FreshWrite { fingerprint, body }))
    }

    /// The same check for a write after its intent failed to commit: an equal write may have been faster.
    pub(super) async fn refuse_late_repeat(self, facts: &CallFacts, write: &FreshWrite) -> Result<(), Refusal> {
        refuse_if_repeated(&write.fingerprint, &self.find_unsettled_writes(facts).await?)
    }

    /// The unsettled writes on the same route under the same delegation. Expired ones are removed.
    pub(super) async fn find_unsettled_writes(self, facts: &CallFacts) -> Result<Vec<UnsettledWrite>, Refusal> {
        let Some(delegation) = facts.delegation() else { return Ok(Vec::new()) };
        let found = self.find_all(UnsettledWritesOf { delegation, route: facts.route().id.clone() }).await?;
        let now = self.now();
        let (open, over): (Vec<_>, Vec<_>) = found.into_iter().partition(|write| now < write.until);
        if !over.is_empty() {
            let row = |write: &UnsettledWrite| (Table::UnsettledWrite, write.key);
            let removes = over.iter().map(row).collect();
            match self.commit(Effects { removes, ..Effects::default() }).await {
                Outcome::Committed => {}
                _ => return Err(Refusal::Unavailable),
            }
        }
        Ok(open)
    }

    /// The effects of an outcome on the row of its write. The row is read again when they turn out to be stale.
    pub(super) fn apply_write_outcome(
        self,
        row: Option<&UnsettledWrite>,
        seen: &SeenWrite,
        place: &ProjectRef,
        env: &Env,
    ) -> Result<Effects, Refusal> {
        let Some(row) = row else { return Ok(Effects::default()) };
        let (follows, conflict) = seen.settle(row, place, env)?;
        if conflict {
            let call_id = row.call_id.as_str();
            tracing::error!(call_id, alarm = "outcome_conflict", "an outcome contradicts a person's finding");
        }
        Ok(follows)
    }

    /// The writes of a project with repeats that are refused, oldest first.
    pub async fn unsettled_writes(self, project: RowKey) -> Result<Vec<UnsettledWrite>, Refusal> {
        let all = self.find_all(UnsettledWritesIn(project)).await?;
        let now = self.now();
        Ok(all.into_iter().filter(|write| write.refuses_repeats() && now < write.until).collect())
    }

    /// Settles a write by a person's finding; from then on its repeats are let through.
    pub async fn settle_unsettled_write(
        self,
        project: &Project,
        call_id: &str,
        ran: bool,
        reason: &str,
    ) -> Result<UnsettledWrite, Refusal> {
        self.run(|| async {
            let found = self.find_one(UnsettledWriteById { project: project.key, call_id: call_id.to_owned() }).await?;
            let unknown = || Refusal::NotFound("there is no unsettled call with this id in the project".into());
            let view = ((project.key, project.id.clone()), found.ok_or_else(unknown)?);
            SettleWrite { ran, reason: reason.to_owned() }.decide(&view, &self.env()?)
        })
        .await
    }
}

/// Of a request that was read whole.
pub(super) fn describe_whole(request: &HttpRequest) -> (ReadWrite, BodyDigest) {
    let body = request.body.as_slice();
    let digest = Digest::of(body);
    let read = ReadWrite {
        head: HttpRequest { body: Vec::new(), ..request.clone() },
        beginning: Some(Digest::of(body.get(..BEGINNING_BYTES).unwrap_or(body))),
        length: u64::try_from(body.len()).ok(),
        body: Some(digest),
    };
    (read, BodyDigest::known(digest))
}

pub(super) fn refuse_if_repeated(fingerprint: &WriteFingerprint, unsettled: &[UnsettledWrite]) -> Result<(), Refusal> {
    match fingerprints(unsettled).find(|(_, earlier)| fingerprint.repeats(earlier)) {
        Some((write, _)) => Err(Refusal::WriteUnsettled { call_id: write.call_id.clone(), until: write.until }),
        None => Ok(()),
    }
}

fn fingerprints(unsettled: &[UnsettledWrite]) -> impl Iterator<Item = (&UnsettledWrite, &WriteFingerprint)> {
    unsettled.iter().filter_map(|write| Some((write, write.fingerprint.as_ref()?)))
}
